// Command fakeapi is a FAKE of a cluster's API server and machine config server, for a host under
// test without a cluster.
//
// It serves the requests of the bootstrap phase: /readyz, list, watch and bookmarks of Nodes, and
// objects of hosts, on which nothing acts. It checks nothing. PUT /fake/readyz sets its mode: "ok", "error" (500 while it serves),
// "shutdown" (500, naming the shutdown) or "hang". With -ironic it is a FAKE of the provisioning
// service instead, with the modes "up" and "hang" by PUT /fake/mode.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

func main() {
	cert := flag.String("cert", "", "PEM file with the serving certificate")
	key := flag.String("key", "", "PEM file with its key")
	api := flag.String("api", ":6443", "address of the API")
	mcs := flag.String("mcs", ":22623", "address of the machine config server")
	state := flag.String("state", "", "file that keeps the Nodes, and others beside it, over a restart, "+
		"as etcd does")
	ironic := flag.String(
		"ironic", "", "address of an Ironic, which is served without TLS and alone",
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	fake, err := NewAPI(*state)
	switch {
	case err != nil:
	case *ironic != "":
		err = run(ctx, "", "", map[string]http.Handler{*ironic: NewIronic()})
	default:
		err = run(ctx, *cert, *key, map[string]http.Handler{
			*api: fake, *mcs: http.HandlerFunc(machineConfig),
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakeapi:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends or a server fails. Then all connections are cut at once, as by SIGKILL.
// Without a certificate it serves without TLS.
func run(ctx context.Context, cert, key string, handlers map[string]http.Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all error
	for address, handler := range handlers {
		server := &http.Server{Addr: address, Handler: handler}
		wg.Go(func() {
			defer cancel()
			serve := func() error { return server.ListenAndServeTLS(cert, key) }
			if cert == "" {
				serve = server.ListenAndServe
			}
			if err := serve(); !errors.Is(err, http.ErrServerClosed) {
				mu.Lock()
				defer mu.Unlock()
				all = errors.Join(all, err)
			}
		})
		wg.Go(func() {
			<-ctx.Done()
			server.Close()
		})
	}
	wg.Wait()
	return all
}

// machineConfig answers as a machine config server does: with an Ignition document for a pool.
func machineConfig(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		w.WriteHeader(http.StatusOK)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintln(w, `{"ignition":{"version":"3.2.0"}}`)
}
