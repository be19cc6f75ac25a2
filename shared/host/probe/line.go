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

// dialer makes connections as net.Dialer does.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// line asks one URL again and again by a connection that it keeps. The library's client has two
// goroutines for each connection, and some ten hand-overs between them for each question: of a look
// that is made four times a second that is the greater part of the cost.
type line struct {
	url      *url.URL
	question []byte
	dial     dialer
	secure   *tls.Config // nil for a server that speaks in the clear
	wrong    error       // with the URL

	mu   sync.Mutex
	kept *wire // that nobody uses; nil for none
}

// newLine asks a URL with GET.
func newLine(text string, dial dialer, secure *tls.Config) *line {
	l := &line{dial: dial}
	request, err := http.NewRequest(http.MethodGet, text, nil)
	if err != nil {
		l.wrong = err
		return l
	}
	var question bytes.Buffer
	if l.wrong = request.Write(&question); l.wrong != nil {
		return l
	}
	l.url, l.question = request.URL, question.Bytes()
	if l.url.Scheme == "https" {
		l.secure = secure.Clone()
		l.secure.ServerName = l.url.Hostname()
	}
	return l
}

// ask asks once and reads the answer to its end, so that the connection can be used again; no
// redirect is followed. A connection that the server has closed since the last question is no
// answer: it is asked by a new one.
func (l *line) ask(ctx context.Context) (code int, body []byte, err error) {
	if l.wrong != nil {
		return 0, nil, l.wrong
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return 0, nil, l.named(err)
	}
	if w := l.take(); w != nil {
		if code, body, err = l.by(ctx, w); err == nil || w.heard || ctx.Err() != nil {
			return code, body, l.named(err)
		}
	}
	w, err := l.connect(ctx)
	if err != nil {
		return 0, nil, l.named(err)
	}
	code, body, err = l.by(ctx, w)
	return code, body, l.named(err)
}

// named says of an error what was asked.
func (l *line) named(err error) error {
	if err == nil {
		return nil
	}
	return &url.Error{Op: "Get", URL: l.url.String(), Err: plain(err)}
}

// by asks by a connection, and keeps it when it can be used again.
func (l *line) by(ctx context.Context, w *wire) (code int, body []byte, err error) {
	code, body, again, err := w.exchange(ctx, l.question)
	if !again {
		_ = w.conn.Close() // its end is no news
		return code, body, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept != nil { // somebody has asked beside this one
		_ = w.conn.Close()
		return code, body, err
	}
	l.kept = w
	return code, body, err
}

func (l *line) take() *wire {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.kept
	l.kept = nil
	return w
}

// connect makes a connection, and by TLS where the URL says so.
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

// wire is a connection. Of one answer it reads a bounded number of bytes.
type wire struct {
	conn   net.Conn
	reader *bufio.Reader
	left   int  // bytes of this answer
	heard  bool // the server has said something to this question
}

// longest is how much is read of an answer with its head.
const longest = most + 64<<10

func (w *wire) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, fmt.Errorf("its answer is longer than %d bytes", longest)
	}
	n, err := w.conn.Read(p[:min(len(p), w.left)])
	w.left -= n
	w.heard = w.heard || n > 0
	return n, err
}

// exchange asks and reads the answer. again says that the connection can be used for the next
// question.
func (w *wire) exchange(ctx context.Context, question []byte) (code int, body []byte, again bool, err error) {
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = ctx.Err() // a connection only says that its time is over
		}
	}()
	w.left, w.heard = longest, false
	end, _ := ctx.Deadline()
	if err := w.conn.SetDeadline(end); err != nil {
		return 0, nil, false, err
	}
	stop := context.AfterFunc(ctx, func() { _ = w.conn.SetDeadline(time.Unix(1, 0)) })
	defer func() { again = stop() && again }()
	if _, err := w.conn.Write(question); err != nil {
		return 0, nil, false, err
	}
	answer, err := http.ReadResponse(w.reader, nil)
	for err == nil && answer.StatusCode < http.StatusOK && answer.StatusCode != http.StatusSwitchingProtocols {
		answer, err = http.ReadResponse(w.reader, nil) // what comes before it is none
	}
	if err != nil {
		return 0, nil, false, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err != nil {
		return 0, nil, false, err
	}
	again = !answer.Close && len(body) <= most && w.reader.Buffered() == 0 && answer.StatusCode != http.StatusSwitchingProtocols
	return answer.StatusCode, body[:min(len(body), most)], again, nil
}
