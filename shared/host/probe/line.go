package probe

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Dialer makes connections as net.Dialer does.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// line sends requests for one URL by a connection that it keeps. The standard library's client has
// two goroutines for each connection and some ten switches between them for each request. At four
// probes a second that is most of the cost.
type line struct {
	url     *url.URL
	request []byte
	dial    Dialer
	secure  *tls.Config // nil for a server without TLS
	invalid error       // of the URL

	mu   sync.Mutex
	kept *wire // that is not in use; nil for none
}

// newLine requests a URL with GET.
func newLine(target string, dial Dialer, secure *tls.Config) *line {
	l := &line{dial: dial}
	request, err := http.NewRequest(http.MethodGet, target, nil)
	if err != nil {
		l.invalid = err
		return l
	}
	var text bytes.Buffer
	if l.invalid = request.Write(&text); l.invalid != nil {
		return l
	}
	l.url, l.request = request.URL, text.Bytes()
	if l.url.Scheme == "https" {
		l.secure = secure.Clone()
		l.secure.ServerName = l.url.Hostname()
	}
	return l
}

// get sends one request and reads the whole answer, so that the connection can be used again; it
// follows no redirect. If the server has closed the kept connection, the request is sent again by a
// new one.
func (l *line) get(ctx context.Context) (code int, body []byte, err error) {
	if l.invalid != nil {
		return 0, nil, l.invalid
	}
	if code, body, err = l.try(ctx); err != nil {
		return 0, nil, &url.Error{Op: "Get", URL: l.url.String(), Err: plain(err)}
	}
	return code, body, nil
}

func (l *line) try(ctx context.Context) (code int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	if w := l.take(); w != nil {
		if code, body, err = l.exchange(ctx, w); err == nil || w.answered || ctx.Err() != nil {
			return code, body, err
		}
	}
	w, err := l.connect(ctx)
	if err != nil {
		return 0, nil, err
	}
	return l.exchange(ctx, w)
}

// exchange sends the request by a connection, and keeps it if it can be used again.
func (l *line) exchange(ctx context.Context, w *wire) (code int, body []byte, err error) {
	code, body, again, err := w.exchange(ctx, l.request)
	l.mu.Lock()
	defer l.mu.Unlock()
	if again && l.kept == nil { // else another goroutine has sent a request meanwhile
		l.kept = w
	} else {
		_ = w.conn.Close() // an error of its end does not matter
	}
	return code, body, err
}

func (l *line) take() *wire {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.kept
	l.kept = nil
	return w
}

// connect makes a connection, with TLS for an https URL.
func (l *line) connect(ctx context.Context) (*wire, error) {
	port := l.url.Port()
	if port == "" {
		port = map[bool]string{false: "80", true: "443"}[l.secure != nil]
	}
	conn, err := l.dial(ctx, "tcp", net.JoinHostPort(l.url.Hostname(), port))
	if err != nil {
		return nil, err
	}
	if l.secure != nil {
		secured := tls.Client(conn, l.secure)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, err
		}
		conn = secured
	}
	w := &wire{conn: conn}
	w.reader = bufio.NewReader(w)
	return w, nil
}

// wire is a connection that reads a bounded number of bytes of an answer.
type wire struct {
	conn     net.Conn
	reader   *bufio.Reader
	left     int  // bytes of this answer
	answered bool // the server has sent something for this request
}

// longest is how much is read of an answer with its head.
const longest = most + 64<<10

func (w *wire) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, fmt.Errorf("its answer is longer than %d bytes", longest)
	}
	n, err := w.conn.Read(p[:min(len(p), w.left)])
	w.left -= n
	w.answered = w.answered || n > 0
	return n, err
}

// exchange sends a request and reads the answer. again reports whether the connection can be used
// for the next request.
func (w *wire) exchange(
	ctx context.Context, request []byte,
) (code int, body []byte, again bool, err error) {
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = ctx.Err() // a connection would only report its deadline
		}
	}()
	w.left, w.answered = longest, false
	end, _ := ctx.Deadline()
	if err := w.conn.SetDeadline(end); err != nil {
		return 0, nil, false, err
	}
	stop := context.AfterFunc(ctx, func() { _ = w.conn.SetDeadline(time.Unix(1, 0)) })
	defer func() { again = stop() && again }()
	if _, err := w.conn.Write(request); err != nil {
		return 0, nil, false, err
	}
	answer, err := http.ReadResponse(w.reader, nil)
	for err == nil && answer.StatusCode < http.StatusOK &&
		answer.StatusCode != http.StatusSwitchingProtocols {
		answer, err = http.ReadResponse(w.reader, nil) // an informational answer comes before
	}
	if err != nil {
		return 0, nil, false, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err != nil {
		return 0, nil, false, err
	}
	again = !answer.Close && len(body) <= most && w.reader.Buffered() == 0 &&
		answer.StatusCode != http.StatusSwitchingProtocols
	return answer.StatusCode, body[:min(len(body), most)], again, nil
}
