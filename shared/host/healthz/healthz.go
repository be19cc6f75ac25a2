// Package healthz answers a kubelet on the loopback whether a program still does its work.
package healthz

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Serve answers GET of each path on 127.0.0.1 and, where there is one, on ::1, until ctx ends: 200 and "ok", or 503 and the error's text. It
// returns nil when ctx ends and an error when it cannot listen.
func Serve(ctx context.Context, port uint16, checks map[string]func() error) error {
	listeners, err := listen(ctx, port)
	if err != nil {
		return fmt.Errorf("serve the health at port %d of the loopback: %w", port, err)
	}
	mux := http.NewServeMux()
	for path, check := range checks {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { answer(w, check()) })
	}
	server := &http.Server{Handler: mux, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second, IdleTimeout: 30 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() // nothing is written that could be lost
	var wait sync.WaitGroup
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		wait.Go(func() {
			ended <- server.Serve(l)
			_ = server.Close() // one of them is as good as none to who asks the other
		})
	}
	wait.Wait()
	if err := <-ended; ctx.Err() == nil {
		return fmt.Errorf("serve the health at port %d of the loopback: %w", port, err)
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

// listen takes the port on each loopback address that the machine has.
func listen(ctx context.Context, port uint16) ([]net.Listener, error) {
	var listeners []net.Listener
	var errs []error
	for _, address := range []string{"127.0.0.1", "::1"} {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(int(port))))
		switch {
		case err == nil:
			listeners = append(listeners, l)
		case !errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.EAFNOSUPPORT):
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 && len(listeners) > 0 {
		return listeners, nil
	}
	for _, l := range listeners {
		_ = l.Close() // nobody has connected yet
	}
	return nil, errors.Join(append(errs, ctx.Err())...)
}

// Pulse says whether a loop still turns. Its zero value has never beaten.
type Pulse struct {
	mu   sync.Mutex
	last time.Time
}

// Beat is called in each turn.
func (p *Pulse) Beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
}

// Within says what is wrong when the last beat is longer ago than bound.
func (p *Pulse) Within(bound time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.IsZero() {
		return errors.New("its loop has not turned yet")
	}
	if silent := time.Since(p.last); silent > bound {
		return fmt.Errorf("its loop has not turned for %v", silent.Round(time.Second))
	}
	return nil
}
