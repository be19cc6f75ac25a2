// Command demo shows what onprem-infra does, on this machine and on real parts, and prints at each
// step what it did and what it saw. It leaves nothing behind but a cache.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/life"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

// began is when `make demo` did, in seconds since 1970; what was installed and built since then
// counts.
var began = flag.Int64("began", time.Now().Unix(), "when the demo's preparations began (Unix time)")

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := demo(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo:", err)
		os.Exit(1)
	}
}

func demo(ctx context.Context) (err error) {
	fmt.Print(intro)
	s := &show{ctx: ctx}
	s.took("install packages and build the programs", time.Unix(*began, 0))
	defer func() {
		fmt.Print("\nCleaning up: ")
		begin := time.Now()
		if s.crowd != nil {
			s.crowd.Leave()
		}
		if s.cluster != nil {
			err = errors.Join(err, s.cluster.Close(context.WithoutCancel(ctx)))
		}
		s.took("clean up", begin)
		fmt.Printf("done.\n\n%s", s.where())
	}()
	if err := s.prepare(); err != nil {
		return err
	}
	if err := s.run(); err != nil {
		s.explain(context.WithoutCancel(ctx))
		return err
	}
	return nil
}

// prepare makes what is made once and kept.
func (s *show) prepare() error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	for _, step := range []struct {
		title string
		f     func() (string, error)
	}{
		{"kube-apiserver", func() (string, error) { return cache.KubeAPIServer(s.ctx) }},
		{"the stock CoreDNS", func() (string, error) { return cache.CoreDNS(s.ctx) }},
		{"the machines' root file system", func() (string, error) { return vm.Root(s.ctx, log) }},
	} {
		fmt.Printf(" 0. Make %s, unless it is there\n", step.title)
		begin := time.Now()
		if _, err := step.f(); err != nil {
			return err
		}
		s.took("make "+step.title, begin)
	}
	return nil
}

// explain prints the logs of the hosts in a scene that failed.
func (s *show) explain(ctx context.Context) {
	if s.cluster == nil || s.cluster.VM == nil {
		return
	}
	fmt.Fprintln(os.Stderr, s.cluster.Journal(ctx, "onprem-install", chain.Unit, "onprem-coredns"))
	for _, n := range s.cluster.Nodes {
		for _, c := range n.Containers() {
			fmt.Fprintf(os.Stderr, "%s %s:\n%s\n", n.Name, c, n.Log(c))
		}
	}
}

// build makes everything up to machines that can be switched on.
func (s *show) build(ctx context.Context) (saw []string, err error) {
	s.cluster, err = life.Open(ctx, slog.New(slog.NewTextHandler(os.Stderr, nil)), life.Options{Bootstrap: true, Timing: vrrp.ProfileLan})
	return []string{
		"onprem-infra made Ignition of its example install-config, and the real Ignition wrote it to the bootstrap machine's disk",
		"the same program rendered the files and static pods of three control plane nodes",
	}, err
}

const intro = `onprem-infra: the life of a cluster, from an install-config to a rebooted node

  neighbour 192.0.2.1     the clients, the gateway and the network's name server
  bootstrap 192.0.2.10    a booted machine: systemd, podman, keepalived, CoreDNS, kube-apiserver
  master-0  192.0.2.21    control plane nodes: the static pods that we render, run by runc,
  master-1  192.0.2.22    with keepalived, HAProxy, CoreDNS and their monitors,
  master-2  192.0.2.23    and a kube-apiserver each
  etcd      192.0.2.30    the cluster's memory
  API VIP   192.0.2.5     ingress VIP 192.0.2.6, cluster prod.example.com

All are network namespaces on a switch of their own. No part is a fake.

`
