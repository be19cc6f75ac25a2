package supervise

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of the answer to whoever asks whether this process works.
const (
	turnBound   = 30 * time.Second // a turn takes the test of a configuration and the end of a keepalived that hangs, 16 s in all
	answerBound = 2 * time.Second
	listenAgain = 5 * time.Second

	maxConnections = 16 // that are served at a time
)

// pulseTaker knows when the loop last turned. Its zero value has never seen it.
type pulseTaker struct{ last atomic.Pointer[time.Time] }

func (p *pulseTaker) turned(now time.Time) { p.last.Store(&now) }

func (p *pulseTaker) works(now time.Time) bool {
	last := p.last.Load()
	return last != nil && now.Sub(*last) < turnBound
}

// answer says over HTTP whether the loop turns, until ctx ends. It says nothing of keepalived: one
// that hangs is this process's own business, FAULT is a state like any other, and so is the time
// before the first configuration. A port that is taken is no reason to stop.
func (s *supervisor) answer(ctx context.Context) {
	for said := false; ctx.Err() == nil; {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Health)
		if err == nil {
			said = false
			stop := context.AfterFunc(ctx, func() { listener.Close() })
			err = s.answerAll(listener)
			if stop() {
				listener.Close()
			}
		}
		if ctx.Err() != nil {
			return
		}
		if !said {
			said = true
			s.Log.Error("answer for this process", "address", s.Health, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain):
		}
	}
}

// answerAll serves connections beside each other until the listener is closed or fails.
func (s *supervisor) answerAll(listener net.Listener) error {
	var open connections
	defer open.closeAll()
	for {
		c, err := listener.Accept()
		if err != nil {
			return err
		}
		open.add(c)
		s.servants.Go(func() {
			defer open.close(c)
			s.answerOne(c)
		})
	}
}

// answerOne answers one question. Whatever it is about, the answer is the same; an HTTP server of
// the library would be half of this program.
func (s *supervisor) answerOne(c net.Conn) {
	if err := c.SetDeadline(time.Now().Add(answerBound)); err != nil {
		return // who asked has gone
	}
	if _, err := c.Read(make([]byte, 4096)); err != nil {
		return
	}
	status, text := "200 OK", "the loop turns\n"
	if !s.pulse.works(time.Now()) {
		status, text = "503 Service Unavailable", fmt.Sprintf("the loop has not turned for %s\n", turnBound)
	}
	fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, len(text), text)
}

// connections are those that are open, the oldest first, and no more than maxConnections. A probe
// sends its question at once, so the oldest one, which has sent nothing, makes room for a new one:
// idle connections never keep a probe waiting.
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

// closeAll ends what is open when the listener has ended.
func (k *connections) closeAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.open {
		c.Close()
	}
}
