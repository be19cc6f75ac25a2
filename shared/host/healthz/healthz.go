// Package healthz serves a program's health to the kubelet on the loopback, and its pages to
// clients that may read them.
package healthz

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/netutil"
)

// Page is a text that is made anew for each request.
type Page struct {
	Type string // of the content
	Text func() []byte
}

// timeout is how long a client may take to send its request, and to read the answer.
const timeout = 5 * time.Second

// Serve answers GET of each path on 127.0.0.1 and, where there is one, on ::1, until ctx ends: a
// check with 200 and "ok", or 503 and the error's text, a page with its text. It returns nil when
// ctx ends and an error when it cannot listen.
func Serve(ctx context.Context, port uint16, checks map[string]func() error,
	pages map[string]Page) error {
	mux := paged(pages)
	for path, check := range checks {
		mux.HandleFunc("GET "+path,
			func(w http.ResponseWriter, _ *http.Request) { answer(w, check()) })
	}
	server := &http.Server{Handler: mux, ReadTimeout: timeout, WriteTimeout: timeout,
		IdleTimeout: 30 * time.Second}
	listeners, err := listen(ctx, loopback(port))
	if err == nil {
		err = serve(ctx, server, listeners)
	}
	if err != nil {
		return fmt.Errorf("serve the health at port %d of the loopback: %w", port, err)
	}
	return nil
}

// atOnce is how many requests from other hosts are answered at a time, at each address. Others
// wait: a program that any host could flood would end, and with it what it maintains.
const atOnce = 4

// Publish answers GET of each page at these addresses of this host, until ctx ends, and nothing
// else. It returns nil when ctx ends and an error when it cannot listen.
func Publish(ctx context.Context, at []netip.AddrPort, pages map[string]Page) error {
	server := &http.Server{Handler: paged(pages), ReadTimeout: timeout, WriteTimeout: timeout,
		MaxHeaderBytes: 8 << 10}
	server.SetKeepAlivesEnabled(false)
	listeners, err := listen(ctx, at)
	for i, l := range listeners { // each connection ends within seconds, by the timeouts
		listeners[i] = netutil.LimitListener(l, atOnce)
	}
	if err == nil {
		err = serve(ctx, server, listeners)
	}
	if err != nil {
		return fmt.Errorf("publish pages at %v: %w", at, err)
	}
	return nil
}

func paged(pages map[string]Page) *http.ServeMux {
	mux := http.NewServeMux()
	for path, page := range pages {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", page.Type)
			_, _ = w.Write(page.Text()) // it fails if the client has gone
		})
	}
	return mux
}

func serve(ctx context.Context, server *http.Server, listeners []net.Listener) error {
	if len(listeners) == 0 {
		<-ctx.Done()
		return nil
	}
	// nothing is written that could be lost
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	var wait sync.WaitGroup
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		wait.Go(func() {
			ended <- server.Serve(l)
			_ = server.Close() // else the other listener would hide it
		})
	}
	wait.Wait()
	if err := <-ended; ctx.Err() == nil {
		return err
	}
	return nil
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

func loopback(port uint16) []netip.AddrPort {
	return []netip.AddrPort{
		netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port),
		netip.AddrPortFrom(netip.IPv6Loopback(), port),
	}
}

// listen takes all ports or none. A loopback address that the machine does not have is left out.
func listen(ctx context.Context, at []netip.AddrPort) (listeners []net.Listener, err error) {
	for _, address := range at {
		l, failed := new(net.ListenConfig).Listen(ctx, "tcp", address.String())
		switch {
		case failed == nil:
			listeners = append(listeners, l)
		case !address.Addr().IsLoopback() || !errors.Is(failed, syscall.EADDRNOTAVAIL) &&
			!errors.Is(failed, syscall.EAFNOSUPPORT):
			err = errors.Join(err, failed)
		}
	}
	if err == nil {
		return listeners, nil
	}
	for _, l := range listeners {
		_ = l.Close() // there is no connection yet
	}
	return nil, err
}

// Pulse is when a loop began its last round. Its zero value has seen none.
type Pulse struct {
	mu   sync.Mutex
	last time.Time
}

// Beat is called in each round.
func (p *Pulse) Beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
}

// Within returns an error if the last beat is longer ago than bound.
func (p *Pulse) Within(bound time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.IsZero() {
		return errors.New("its loop has not begun a round yet")
	}
	if silent := time.Since(p.last); silent > bound {
		return fmt.Errorf("its loop has not begun a round for %v", silent.Round(time.Second))
	}
	return nil
}
