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

// HTTP probes whether a server answers by HTTP at all. It sends requests for one URL by a
// connection that it keeps. The standard library's client has two goroutines for each connection
// and some ten switches between them for each request. At four probes a second that is most of the
// cost.
type HTTP struct {
	url     *url.URL
	request []byte
	dial    Dialer
	secure  *tls.Config // nil for a server without TLS
	invalid error       // of the URL

	mu   sync.Mutex
	kept *wire // that is not in use; nil for none
}

func newHTTP(target string, dial Dialer, secure *tls.Config) *HTTP {
	h := &HTTP{dial: dial}
	request, err := http.NewRequest(http.MethodGet, target, nil)
	if err != nil {
		h.invalid = err
		return h
	}
	var text bytes.Buffer
	if h.invalid = request.Write(&text); h.invalid != nil {
		return h
	}
	h.url, h.request = request.URL, text.Bytes()
	if h.url.Scheme == "https" {
		h.secure = secure.Clone()
		h.secure.ServerName = h.url.Hostname()
	}
	return h
}

// get sends one request and reads the whole answer, so that the connection can be used again; it
// follows no redirect. If the server has closed the kept connection, the request is sent again by a
// new one.
func (h *HTTP) get(ctx context.Context) (code int, body []byte, err error) {
	if h.invalid != nil {
		return 0, nil, h.invalid
	}
	if code, body, err = h.try(ctx); err != nil {
		return 0, nil, &url.Error{Op: "Get", URL: h.url.String(), Err: plain(err)}
	}
	return code, body, nil
}

func (h *HTTP) try(ctx context.Context) (code int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	if w := h.take(); w != nil {
		if code, body, err = h.exchange(ctx, w); err == nil || w.answered || ctx.Err() != nil {
			return code, body, err
		}
	}
	w, err := h.connect(ctx)
	if err != nil {
		return 0, nil, err
	}
	return h.exchange(ctx, w)
}

// exchange sends the request by a connection, and keeps it if it can be used again.
func (h *HTTP) exchange(ctx context.Context, w *wire) (code int, body []byte, err error) {
	code, body, again, err := w.exchange(ctx, h.request)
	h.mu.Lock()
	defer h.mu.Unlock()
	if again && h.kept == nil { // else another goroutine has sent a request meanwhile
		h.kept = w
	} else {
		_ = w.conn.Close() // an error of its end does not matter
	}
	return code, body, err
}

func (h *HTTP) take() *wire {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.kept
	h.kept = nil
	return w
}

func (h *HTTP) connect(ctx context.Context) (*wire, error) {
	port := h.url.Port()
	if port == "" {
		port = map[bool]string{false: "80", true: "443"}[h.secure != nil]
	}
	conn, err := h.dial(ctx, "tcp", net.JoinHostPort(h.url.Hostname(), port))
	if err != nil {
		return nil, err
	}
	if h.secure != nil {
		secured := tls.Client(conn, h.secure)
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
