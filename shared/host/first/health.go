package first

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of an answer at the health port.
const (
	// RoundBound is how long a round may take: keepalived's reports, and the end of one that hangs,
	// need 6 s in all.
	RoundBound  = 30 * time.Second
	answerBound = 2 * time.Second
	listenAgain = 5 * time.Second

	maxConnections = 16 // that are served at a time
)

// Rounds is when the loop began its last round. Its zero value has seen none.
type Rounds struct{ last atomic.Pointer[time.Time] }

// Began notes that a round begins.
func (r *Rounds) Began(now time.Time) { r.last.Store(&now) }

func (r *Rounds) healthy(now time.Time) bool {
	last := r.last.Load()
	return last != nil && now.Sub(*last) < RoundBound
}

// Page is a text that is made anew for each request.
type Page struct {
	Type string // of the content
	Text func() []byte
}

// Health is a port at which a program answers over HTTP.
type Health struct {
	Address string // and port; empty for nowhere
	Rounds  *Rounds
	Pages   map[string]Page // by path
	Log     *slog.Logger
}

// Serve answers until ctx ends: a page at its path, and at any other path whether the loop makes
// rounds. It reports nothing about the daemon: this process itself restarts one that hangs, and the
// time before the first configuration is a state like any other. A port that is taken is no reason
// to stop.
func (h Health) Serve(ctx context.Context) {
	for logged := false; ctx.Err() == nil; {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", h.Address)
		if err == nil {
			logged = false
			stop := context.AfterFunc(ctx, func() { listener.Close() })
			err = h.serveAll(listener)
			if stop() {
				listener.Close()
			}
		}
		if ctx.Err() != nil {
			return
		}
		if !logged {
			logged = true
			h.Log.Error("serve the health port", "address", h.Address, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain):
		}
	}
}

func (h Health) serveAll(listener net.Listener) error {
	var open connections
	var serving sync.WaitGroup
	defer serving.Wait()
	defer open.closeAll()
	for {
		c, err := listener.Accept()
		if err != nil {
			return err
		}
		open.add(c)
		serving.Go(func() {
			defer open.close(c)
			h.serve(c)
		})
	}
}

// serve answers one request: an HTTP server of the library would double the size of this program.
func (h Health) serve(c net.Conn) {
	if err := c.SetDeadline(time.Now().Add(answerBound)); err != nil {
		return // the client has gone
	}
	request := make([]byte, 4096)
	n, err := c.Read(request)
	if err != nil {
		return
	}
	status, kind, text := h.answer(string(request[:n]))
	fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n"+
		"Connection: close\r\n\r\n%s", status, kind, len(text), text)
}

// answer is for the first packet of a request (RFC 9112, 3): a method, a path, a version.
func (h Health) answer(request string) (status, kind string, text []byte) {
	words := strings.Fields(request[:min(len(request), 256)])
	if len(words) > 1 {
		path, _, _ := strings.Cut(words[1], "?")
		if page, ok := h.Pages[path]; ok {
			return "200 OK", page.Type, page.Text()
		}
	}
	if h.Rounds.healthy(time.Now()) {
		return "200 OK", plain, []byte("the loop makes rounds\n")
	}
	return "503 Service Unavailable", plain,
		fmt.Appendf(nil, "the loop has not begun a round for %s\n", RoundBound)
}

const plain = "text/plain"

// connections are the open ones, the oldest first, and no more than maxConnections. A probe sends
// its request at once, so the oldest one, which has sent nothing, makes room for a new one: idle
// connections never keep a probe waiting.
type connections struct {
	mu   sync.Mutex
	open []net.Conn
}

func (k *connections) add(c net.Conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.open) == maxConnections {
		k.open[0].Close()
		k.open = slices.Delete(k.open, 0, 1)
	}
	k.open = append(k.open, c)
}

func (k *connections) close(c net.Conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c.Close()
	k.open = slices.DeleteFunc(k.open, func(o net.Conn) bool { return o == c })
}

func (k *connections) closeAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.open {
		c.Close()
	}
}
