package life

import (
	"errors"
	"net/http"
	"sync/atomic"
	"time"
)

// Router is a FAKE of an ingress router: it answers 1936, where a real one reports its health, and
// serves no client. Of the cluster's default router, which the kubelet names, it is none.
type Router struct {
	server *http.Server
	done   chan error
	drains atomic.Bool
}

// StartRouter starts a FAKE router on the node, until StopRouter or the loss of power.
func (n *Node) StartRouter() error {
	listener, err := n.Host.Listen(":1936")
	if err != nil {
		return err
	}
	r := &Router{done: make(chan error, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/healthz/ready", func(w http.ResponseWriter, _ *http.Request) {
		if r.drains.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { r.done <- r.server.Serve(listener) }()
	n.router = r
	return nil
}

// Drain has the node's router report that it takes nothing new, or that it does again.
func (n *Node) Drain(drains bool) { n.router.drains.Store(drains) }

// StopRouter ends the node's router.
func (n *Node) StopRouter() error {
	err := n.router.close()
	n.router = nil
	return err
}

// close ends a router; nil is none.
func (r *Router) close() error {
	if r == nil {
		return nil
	}
	err := r.server.Close()
	if served := <-r.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	r.done <- http.ErrServerClosed // so that it may be closed again
	return err
}
