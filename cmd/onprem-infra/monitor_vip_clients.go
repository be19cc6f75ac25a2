//go:build remote

package main

import (
	"context"
	"net/netip"
	"slices"
	"time"

	room "github.com/onprem-infra/onprem-infra/cluster/vip/clients"
	"github.com/onprem-infra/onprem-infra/shared/clients"
	host "github.com/onprem-infra/onprem-infra/shared/host/clients"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/members"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// The least time between two writes of this node's key: the API has shown the last one by then,
// also by way of the list of candidates. It grows where a program of a former release writes that
// list.
const (
	writeKey     = 5 * time.Second
	mostWriteKey = 5 * time.Minute
)

// vipClients reports the clients of this node's VIPs, and ends connections of a vanished holder.
type vipClients struct {
	plan     plan.Plan
	seen     *members.Cluster
	links    *link.Cache
	exchange *host.Exchange
	room     *room.Room
	wake     chan struct{}

	peers []clients.Peer
	wrote time.Time
	pause time.Duration // until the next write
}

// newVIPClients is nil where a node of the monitor's role reports no clients.
func newVIPClients(
	m *monitor, p plan.Plan, seen *members.Cluster, links *link.Cache,
) *vipClients {
	if !p.NodeRuns(m.role).Clients {
		return nil
	}
	exchange, err := host.NewExchange(p.Ports[port.Clients], m.log)
	if err != nil {
		m.log.Warn("connections to VIPs are not ended when their holder vanishes", "error", err)
		return nil
	}
	c := &vipClients{plan: p, seen: seen, links: links, exchange: exchange, wake: loop.NewWake()}
	c.room = room.New(newClientsHost(p, exchange, links), m.log)
	m.meter.Add(c.page)
	return c
}

// follow wakes the monitor's loop and this part when the host's links change, and receives and
// sends reports, until ctx ends. A nil c only wakes the loop.
func (c *vipClients) follow(ctx context.Context, m *monitor, links *link.Cache) {
	wakes := []chan<- struct{}{m.wake}
	if c != nil {
		wakes = append(wakes, c.wake)
	}
	m.watch(ctx, "links", func(ctx context.Context) error { return links.Watch(ctx, wakes...) })
	if c == nil {
		return
	}
	m.watch(ctx, "reports of clients", func(ctx context.Context) error {
		return c.exchange.Run(ctx, c.room.Receive)
	})
	m.watch(ctx, "the clients of VIPs", func(ctx context.Context) error {
		return c.room.Run(ctx, c.wake)
	})
}

// refresh takes over what the API reports of this node and its peers. Only the monitor's loop
// may call it, as it reads the answers of seen.
func (c *vipClients) refresh() {
	if c == nil {
		return
	}
	nodes, _ := c.seen.Nodes()
	list, _ := c.seen.Candidates()
	peers := room.Peers(c.plan, nodes, list)
	if !slices.EqualFunc(peers, c.peers, clients.Peer.Equal) {
		c.exchange.SetPeers(peers)
		c.peers = peers
		c.room.Anew()
	}
	links, err := c.links.Snapshot()
	if err != nil {
		return // the next round may see them
	}
	self, key := c.seen.Name(links), c.exchange.Key()
	shown, there := room.Published(self, nodes, list)
	if shown == key {
		c.pause = 0
	} else if there && time.Since(c.wrote) >= c.pause {
		c.seen.Keys.Write(self, key)
		c.wrote, c.pause = time.Now(), min(max(2*c.pause, writeKey), mostWriteKey)
	}
}

// page adds the metrics of each VIP's clients.
func (c *vipClients) page(p *metrics.Page) {
	for _, vip := range reportedVIPs(c.plan) {
		known, ended := c.room.Counts(vip)
		p.Add(metrics.ClientsKnown, float64(known), vip.String())
		p.Add(metrics.ClientsEnded, float64(ended), vip.String())
	}
}

// reportedVIPs are those whose clients are reported.
func reportedVIPs(p plan.Plan) []netip.Addr {
	all := slices.Concat(p.VIPs.API, p.VIPs.Ingress)
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.Compact(all)
}

// clientsHost is this machine for the room.
type clientsHost struct {
	*host.Exchange
	links      *link.Cache
	vips       []netip.Addr
	redirected map[uint16]uint16 // the port that clients know, by that of the redirect's target
}

func newClientsHost(p plan.Plan, e *host.Exchange, links *link.Cache) clientsHost {
	h := clientsHost{Exchange: e, links: links, vips: reportedVIPs(p),
		redirected: map[uint16]uint16{}}
	for _, r := range redirect.Of(p.VIPs.API, p.MachineNetworks, p.Ports).Redirects {
		h.redirected[r.To] = r.From
	}
	return h
}

func (h clientsHost) Holds() (vips []netip.Addr, err error) {
	s, err := h.links.Snapshot()
	if err != nil {
		return nil, err
	}
	for _, l := range s.Links {
		for _, a := range l.Addresses {
			if slices.Contains(h.vips, a.Prefix.Addr()) {
				vips = append(vips, a.Prefix.Addr())
			}
		}
	}
	return vips, nil
}

func (h clientsHost) List(vip netip.Addr) ([]clients.Client, error) {
	return host.List(vip, h.redirected)
}

func (clientsHost) End(ctx context.Context, vip netip.Addr, list []clients.Client) error {
	return host.End(ctx, vip, list)
}
