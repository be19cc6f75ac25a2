//go:build remote

package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/daemon"
	"github.com/onprem-infra/onprem-infra/bootstrap/dns"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/inpod"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// coreDNSAnswer is more than CoreDNS needs for an answer without forwarding.
const coreDNSAnswer = time.Second

// coreDNSStart is more than CoreDNS needs until its first answer on a busy machine.
var coreDNSStart = probe.Start{
	Within: 3 * time.Second, Each: coreDNSAnswer, Pause: 50 * time.Millisecond,
}

func runDNSCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dns",
		Short: "Answer the cluster's own names on the bootstrap machine",
		Long: `dns launches CoreDNS in a container and keeps it configured: it answers api, api-int
and *.apps and forwards the rest to the host's name servers, which it follows when they change.`,
		Example: `  onprem-infra bootstrap run dns
  journalctl -u onprem-coredns`,
		Args: cobra.NoArgs,
	}
	m := machineFlags(cmd, std, "bootstrap/dns", "CoreDNS", inspect.CoreDNSManifest)
	once := cmd.Flags().Bool("once", false, "write the Corefile and end, before CoreDNS starts")
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, header string) error {
		host := dnsHost{port: p.Ports[port.DNS]}
		o := dns.Options{Plan: p, Header: header, Host: host, Notifier: &m.status}
		if *once { // a missing name server is no error
			return dns.New(o).Prepare(ctx)
		}
		inThisPod := &inpod.BootstrapCoreDNS{}
		defer inThisPod.Drop()
		if o.Daemon = inThisPod; !m.inPod {
			o.Daemon = m.coreDNSKeeper(p, host)
		}
		room := dns.New(o)
		m.meter.Add(room.Metrics)
		return runRoom(ctx, m, stepsOf(room), func(ctx context.Context) {
			m.serve(ctx, p, p.Ports[port.MonitorDNS], nil)
			m.watchLinks(ctx)
			m.watchFiles(ctx, "name servers", inspect.ResolverFiles()...)
		})
	})
	return cmd
}

// coreDNSKeeper keeps CoreDNS's container, whose probe is an answer.
func (m *machine) coreDNSKeeper(p plan.Plan, host dnsHost) *daemon.Keeper {
	return m.keeper(func(ctx context.Context, _ daemon.Process) error {
		ctx, cancel := context.WithTimeout(ctx, coreDNSAnswer)
		defer cancel()
		err := host.ask(ctx, dns.Probe(p))
		if ctx.Err() != nil {
			return fmt.Errorf("it does not answer for %s within %v", dns.Probe(p), coreDNSAnswer)
		}
		return err
	}, nil)
}

// dnsHost is the machine for the room.
type dnsHost struct {
	link.Network
	port uint16
}

func (dnsHost) Resolvers() ([]nameserver.Resolver, error) { return inspect.Files{}.Resolvers() }

func (dnsHost) Write(config []byte) (changed bool, err error) {
	return file.WriteIfChanged(dns.Config, config, 0o644)
}

func (dnsHost) Written() bool {
	_, err := os.Stat(dns.Config)
	return err == nil
}

// Answers waits until a new CoreDNS has opened its port.
func (h dnsHost) Answers(ctx context.Context, name string) error {
	return coreDNSStart.Wait(ctx, func(ctx context.Context) error { return h.ask(ctx, name) })
}

func (h dnsHost) ask(ctx context.Context, name string) error {
	return probe.DNS(ctx, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), h.port), name)
}
