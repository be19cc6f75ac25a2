// Command backend is the API server and the machine config server of one node, as far as a balancer
// and its clients see them: TLS, readiness and watches. It is made ready by SIGUSR2 and drains
// after SIGUSR1: /readyz says no, and everything is served on.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	name := flag.String("name", "", "what it calls itself")
	cert := flag.String("cert", "", "PEM file with the certificate and its key")
	flag.Parse()
	var draining atomic.Bool
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		for s := range signals {
			draining.Store(s == syscall.SIGUSR1)
		}
	}()
	mux := http.NewServeMux()
	health := func(w http.ResponseWriter, _ *http.Request) {
		if draining.Load() {
			http.Error(w, "shutdown", http.StatusInternalServerError)
		}
	}
	mux.HandleFunc("/readyz", health)
	mux.HandleFunc("/healthz", health)
	mux.HandleFunc("/who", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s %s", *name, r.RemoteAddr) })
	mux.HandleFunc("/watch", func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := fmt.Fprintf(w, "%s\n", *name); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	failed := make(chan error)
	for _, address := range []string{":6443", ":22623"} {
		go func() { failed <- http.ListenAndServeTLS(address, *cert, *cert, mux) }()
	}
	fmt.Fprintln(os.Stderr, "backend:", <-failed)
	os.Exit(1)
}
