// Command demo shows what onprem-infra does, on this machine and on real parts, and says at each step what it did and what it saw. It
// leaves nothing behind but a cache.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := demo(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo:", err)
		os.Exit(1)
	}
}

func demo(ctx context.Context) (err error) {
	begin := time.Now()
	fmt.Print(intro)
	s := &show{ctx: ctx}
	defer func() {
		fmt.Print("\nCleaning up: ")
		if s.chain != nil {
			err = errors.Join(err, s.chain.Close(context.WithoutCancel(ctx)))
		}
		fmt.Printf("done. %s altogether.\n", round(time.Since(begin)))
	}()
	s.chain, err = chain.New(ctx, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	if err := s.play(); err != nil {
		if s.chain.VM != nil {
			fmt.Fprintln(os.Stderr, s.chain.Journal(context.WithoutCancel(ctx), "onprem-install", chain.Unit, "onprem-coredns"))
		}
		return err
	}
	return nil
}

const intro = `onprem-infra: from an install-config to a VIP on a booted bootstrap machine, and back

  neighbour 192.0.2.1     the client, the gateway and the network's name server
  bootstrap 192.0.2.10    the machine: systemd, podman, keepalived, CoreDNS
  master-0  192.0.2.21    stand-ins for control plane nodes: real keepalived with today's configuration,
  master-1  192.0.2.22    all checks always good
  API VIP   192.0.2.5     ingress VIP 192.0.2.6, cluster prod.example.com

All are network namespaces on a switch of their own. The API server is a fake; everything else is real.

`
