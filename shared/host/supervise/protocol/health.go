package protocol

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of an answer at the health port.
const (
	// RoundBound is how long a round may take: the test of a configuration and the end of a
	// keepalived that hangs need 16 s in all.
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

// ServeHealth answers over HTTP whether the loop makes rounds, until ctx ends. It reports nothing
// about keepalived: this process itself restarts one that hangs, FAULT is a state like any other,
// and so is the time before the first configuration. A port that is taken is no reason to stop.
func (r *Rounds) ServeHealth(ctx context.Context, address string, log *slog.Logger) {
	for logged := false; ctx.Err() == nil; {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err == nil {
			logged = false
			stop := context.AfterFunc(ctx, func() { listener.Close() })
			err = r.serveAll(listener)
			if stop() {
				listener.Close()
			}
		}
		if ctx.Err() != nil {
			return
		}
		if !logged {
			logged = true
			log.Error("serve the health port", "address", address, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain):
		}
	}
}

func (r *Rounds) serveAll(listener net.Listener) error {
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
			r.serve(c)
		})
	}
}

// serve answers one request, whatever it is for: an HTTP server of the library would double the
// size of this program.
func (r *Rounds) serve(c net.Conn) {
	if err := c.SetDeadline(time.Now().Add(answerBound)); err != nil {
		return // the client has gone
	}
	if _, err := c.Read(make([]byte, 4096)); err != nil {
		return
	}
	status, text := "200 OK", "the loop makes rounds\n"
	if !r.healthy(time.Now()) {
		status, text = "503 Service Unavailable",
			fmt.Sprintf("the loop has not begun a round for %s\n", RoundBound)
	}
	fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n"+
		"Connection: close\r\n\r\n%s", status, len(text), text)
}

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
