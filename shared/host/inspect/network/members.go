package network

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// VIPs are the cluster's VIPs with the peers that keepalived has for them.
func (i Inspector) VIPs(all []inspect.VIP) (out []facts.VIP) {
	conf := keepalived.Config{}
	text, err := i.Files.Optional(inspect.KeepalivedConf)
	if err == nil && text != nil {
		conf, err = keepalived.Parse(text)
	}
	if i.Live {
		i.Unseen.Add("keepalived's configuration", err)
	}
	for _, v := range all {
		out = append(out, facts.VIP{
			Address: v.Address, For: v.For, Instance: v.Instance, ID: v.ID, Link: v.Link,
			Near: v.Router.Near, Here: v.Here, State: v.State, Peers: peersOf(conf, v.Instance),
		})
	}
	return out
}

// peersOf are the peers of an instance in keepalived's configuration; nil if it has no such
// instance, or that is in multicast mode.
func peersOf(conf keepalived.Config, name vrrp.InstanceName) []netip.Addr {
	for _, i := range conf.Instances {
		if i.Name == name && i.Source.IsValid() {
			return append([]netip.Addr{}, i.Peers...)
		}
	}
	return nil
}

// Members are all hosts that may hold a VIP: those that the API names, those that this host
// remembers, and keepalived's peers.
func (i Inspector) Members(ctx context.Context, vips []facts.VIP) (out []facts.Member) {
	add := func(m facts.Member, more ...netip.Addr) {
		m.Addresses = slices.DeleteFunc(slices.Concat(m.Addresses, more), func(a netip.Addr) bool {
			return slices.Contains(i.Plan.VIPs.All(), a)
		})
		here := func(a netip.Addr) bool { return i.Host.Links.LinkOf(a) != "" }
		same := func(o facts.Member) bool { return o.Name == m.Name && m.Name != "" }
		if len(m.Addresses) > 0 && !slices.ContainsFunc(out, same) {
			m.Self = slices.ContainsFunc(m.Addresses, here)
			out = append(out, m)
		}
	}
	nodes, err := i.Nodes(ctx)
	i.Unseen.Add("the control plane's nodes", err)
	for _, n := range nodes {
		m := facts.Member{
			Name: n.Name, Addresses: n.InternalIPs, ControlPlane: n.ControlPlane, Named: true,
			Rank: n.Rank, Apart: n.Apart, Rack: n.Rack,
		}
		if m.Rack == "" && i.Plan.BGP != nil && i.Plan.BGP.Has(n.Name) {
			m.Rack = n.Name
		}
		if !n.Ready {
			m.Down = n.Since
		}
		add(m, i.onMachineNetworks(n.Annotated)...)
	}
	memory, _, _ := i.Files.Memory() // status reports what is wrong with it
	for _, n := range memory.Nodes {
		add(facts.Member{Name: n.Name, Addresses: n.InternalIPs, ControlPlane: n.ControlPlane},
			i.onMachineNetworks(n.Annotated)...)
	}
	for _, c := range memory.Candidates {
		add(facts.Member{Name: c.Name, Addresses: c.Addresses})
	}
	for _, v := range vips {
		for _, p := range v.Peers {
			known := func(m facts.Member) bool { return slices.Contains(m.Addresses, p) }
			if !p.IsMulticast() && !slices.ContainsFunc(out, known) {
				add(facts.Member{Addresses: []netip.Addr{p}})
			}
		}
	}
	i.racks(out)
	return out
}

// racks notes other nodes whose rack is not known: a file that another host has may name it.
func (i Inspector) racks(members []facts.Member) {
	for _, m := range members {
		if i.Plan.BGP == nil || m.Self || !m.MayAnnounce() {
			continue
		}
		if _, err := i.Plan.BGP.Find(m.Rack, m.Addresses); err != nil {
			i.Unseen.Add("the rack of "+m.Name, fmt.Errorf("neither the label %s of its Node nor "+
				"its addresses name it, and nodes of racks are not compared", notice.RackLabel))
		}
	}
}

func (i Inspector) onMachineNetworks(all []netip.Addr) []netip.Addr {
	return slices.DeleteFunc(slices.Clone(all), func(a netip.Addr) bool {
		has := func(n netip.Prefix) bool { return n.Contains(a) }
		return !slices.ContainsFunc(i.Plan.MachineNetworks, has)
	})
}

// ServersOf are the API servers of the control plane's nodes, this one's included.
func (i Inspector) ServersOf(members []facts.Member) (out []netip.AddrPort) {
	for _, m := range members {
		if m.ControlPlane && len(out) < inspect.MaxServers {
			out = append(out, netip.AddrPortFrom(m.Addresses[0], i.Plan.Ports[port.API]))
		}
	}
	return out
}

// NodesWithin asks a watcher for the nodes that the API names now.
func NodesWithin(
	ctx context.Context, limit time.Duration, watcher *kube.Watcher,
) ([]kube.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	wake, failed := loop.NewWake(), make(chan error, 1)
	go func() { failed <- watcher.Run(ctx, wake) }()
	for {
		if nodes, known := watcher.Known(); known {
			return nodes, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.New("the API has not answered within " + limit.String())
		case err := <-failed:
			return nil, errors.Join(err, errors.New("the API has not answered"))
		case <-wake:
		case <-time.After(100 * time.Millisecond):
		}
	}
}
