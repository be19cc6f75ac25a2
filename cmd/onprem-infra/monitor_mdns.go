//go:build remote

package main

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net/netip"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/mdns"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/multicast"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// everyMDNSRound is the longest time between two rounds.
const everyMDNSRound = 5 * time.Second

func monitorMDNSCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mdns",
		Short: "Announce a node by multicast DNS",
		Long: `mdns announces the node's name, its addresses and its services by multicast DNS, only
on the interface that has the node's address, and answers queries for them there. It first probes
for the name: if another host has it, that host keeps it, and the log has its address. It follows
the address to another interface, never announces the name localhost, and sends a goodbye when it
ends.`,
		Example: `  onprem-infra monitor mdns --role=master`,
		Args:    cobra.NoArgs,
	}
	m := monitorFlags(cmd, "cluster/mdns", std)
	m.roleFlag(cmd, "master or worker",
		"--role is arbiter: only masters and workers are announced")
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, _ string) error {
		return monitorMDNS(ctx, m, p)
	})
	return cmd
}

func monitorMDNS(ctx context.Context, m *monitor, p plan.Plan) error {
	between := func(low, high time.Duration) time.Duration { return low + rand.N(high-low) }
	room := mdns.New(p, m.role, mdnsHost{monitor: m}, between)
	m.meter.Add(room.Metrics)
	return runInPod(ctx, m, "", stepsOf(room), everyMDNSRound, func(ctx context.Context) {
		if number := p.Ports[port.MonitorMDNS]; number != 0 {
			m.serve(ctx, p, number, m.alive)
		}
		m.watchLinks(ctx)
		m.watchFiles(ctx, "the node's name and addresses", mdns.HostnameFile,
			path.Join(mdns.AgreedDir, "ipv4"), path.Join(mdns.AgreedDir, "ipv6"))
	})
}

// mdnsHost is the machine as the room sees it.
type mdnsHost struct {
	link.Network
	*monitor
}

func (mdnsHost) Agreed() ([]netip.Addr, error) {
	agreed, _, err := node.New("").Agreed()
	if text, err := os.ReadFile(primaryIP); err == nil && len(agreed) == 2 &&
		strings.TrimSpace(string(text)) == agreed[1].String() {
		agreed[0], agreed[1] = agreed[1], agreed[0]
	}
	return agreed, err
}

func (mdnsHost) Hostname() (string, error) {
	text, err := os.ReadFile(mdns.HostnameFile)
	if name := strings.TrimSpace(string(text)); err == nil && name != "" {
		return name, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return os.Hostname()
}

func (mdnsHost) Open(
	ctx context.Context, w mdns.Where, receive func(wire.Packet), failed func(error),
) (mdns.Line, error) {
	v4, v6 := wire.Groups()
	s, err := multicast.Open(ctx, multicast.Where{Index: w.Index, From4: w.From4, IPv6: w.IPv6},
		multicast.Groups{IPv4: v4, IPv6: v6, Port: wire.Port},
		multicast.Receiver{Failed: failed, Packet: func(p multicast.Packet) {
			receive(wire.Packet{From: p.From, Multicast: p.To.IsMulticast(), Data: p.Data})
		}})
	if err != nil {
		return nil, err
	}
	return mdnsLine{s}, nil
}

// mdnsLine are the sockets as the room sees them.
type mdnsLine struct{ *multicast.Sockets }

func (l mdnsLine) Send(o wire.Outgoing) error { return l.Sockets.Send(o.To, o.Data) }

func (h mdnsHost) Wake() { loop.Wake(h.wake) }
