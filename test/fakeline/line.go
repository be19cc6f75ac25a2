// Package fakeline is a FAKE of a bad line to a server: a TCP proxy in front of a real server that
// cuts, delays or drops the server's data.
package fakeline

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// Fault is a fault of a line. The zero Fault is none.
type Fault struct {
	Cut     int64 // bytes from the server after which each connection is reset; 0 for never
	Hang    int64 // bytes from the server after which each connection hangs; 0 for never
	Rate    int   // bytes a second from the server on each connection; 0 for no limit
	Stalled bool  // connections are accepted, and nothing is forwarded
}

// Line forwards connections. Its methods may be called at any time.
type Line struct {
	listener net.Listener
	dial     func(context.Context) (net.Conn, error)
	stop     context.CancelFunc
	ctx      context.Context
	running  sync.WaitGroup

	mu      sync.Mutex
	fault   Fault
	changed chan struct{} // closed by the next Set
}

// Serve forwards the listener's connections to those of dial, until Close.
func Serve(listener net.Listener, dial func(context.Context) (net.Conn, error)) *Line {
	ctx, stop := context.WithCancel(context.Background())
	l := &Line{listener: listener, dial: dial, stop: stop, ctx: ctx, changed: make(chan struct{})}
	l.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			l.running.Go(func() { l.pass(conn) })
		}
	})
	return l
}

// Set sets the fault of all connections. An open connection counts bytes from its own start.
func (l *Line) Set(fault Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = fault
	close(l.changed)
	l.changed = make(chan struct{})
}

// Close ends the line and every connection on it.
func (l *Line) Close() error {
	l.stop()
	err := l.listener.Close()
	l.running.Wait()
	return err
}

// pass serves one connection until either side closes it.
func (l *Line) pass(client net.Conn) {
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	defer client.Close()
	if _, ok := l.await(ctx, func(f Fault) bool { return !f.Stalled }); !ok {
		return
	}
	server, err := l.dial(ctx)
	if err != nil {
		return
	}
	defer context.AfterFunc(ctx, func() {
		_ = client.Close()
		_ = server.Close()
	})()
	defer server.Close()
	l.running.Go(func() {
		defer cancel()
		_, _ = io.Copy(server, client) // any end closes the connection
	})
	l.answers(ctx, client, server)
}

// await blocks until the fault ends; ok is false if the connection ends before that.
func (l *Line) await(ctx context.Context, on func(Fault) bool) (fault Fault, ok bool) {
	for {
		l.mu.Lock()
		fault, changed := l.fault, l.changed
		l.mu.Unlock()
		if on(fault) {
			return fault, true
		}
		select {
		case <-ctx.Done():
			return fault, false
		case <-changed:
		}
	}
}

// answers forwards the server's data as the fault allows.
func (l *Line) answers(ctx context.Context, client, server net.Conn) {
	buffer := make([]byte, 1<<14)
	for passed := int64(0); ; {
		fault, ok := l.await(ctx, func(f Fault) bool {
			return !f.Stalled && (f.Hang == 0 || passed < f.Hang)
		})
		if !ok {
			return
		}
		if fault.Cut > 0 && passed >= fault.Cut {
			if tcp, ok := client.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // a reset: a close could look like the end of an answer
			}
			return
		}
		size := len(buffer)
		if fault.Rate > 0 {
			size = min(size, max(1, fault.Rate/20))
		}
		n, err := server.Read(buffer[:size])
		if n > 0 {
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
			passed += int64(n)
		}
		if err != nil {
			return
		}
		if fault.Rate > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Duration(n) * time.Second / time.Duration(fault.Rate)):
			}
		}
	}
}
