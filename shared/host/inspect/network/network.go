// Package network inspects what a host sees of its VIPs and of other hosts, by asking the network.
package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/reach"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// The bounds of what is sent to others.
const (
	// hosts that are asked for their MAC, if an unknown one answers for a VIP
	maxAsked  = 64
	maxEchoes = inspect.MaxServers // neighbours of a VIP that are asked for an echo
)

// smallPacket is a packet that fits every link, in bytes.
const smallPacket = 84

// Inspector inspects the network of a host.
type Inspector struct {
	inspect.Scope
	Probes
}

// Probes are the sources of facts other than files. A test replaces them.
type Probes struct {
	Now        func() time.Time
	Adverts    inspect.Adverts
	WhoHas     func(link string, address netip.Addr) ([]string, error)
	Echo       func(from, to netip.Addr, bytes int) (bool, error)
	VRRP       func(from, to netip.Addr) (bool, error)
	Neighbours func(link string) ([]link.Entry, error)
	MTU        func(link string) int
	Shut       func(ctx context.Context, host netip.Addr) []string
	Nodes      func(ctx context.Context) ([]kube.Node, error)
}

// HostProbes ask this host's network. nodes are those that the API names.
func HostProbes(p plan.Plan, nodes func(ctx context.Context) ([]kube.Node, error)) Probes {
	return Probes{
		Now: time.Now, Adverts: capture.Adverts, WhoHas: reach.WhoHas, Echo: reach.Echo,
		VRRP: reach.VRRP, Neighbours: link.Neighbours, MTU: mtu, Nodes: nodes,
		Shut: func(ctx context.Context, host netip.Addr) []string { return shut(ctx, p, host) },
	}
}

// mtu is 0 if it is not known.
func mtu(name string) int {
	on, err := net.InterfaceByName(name)
	if err != nil {
		return 0
	}
	return on.MTU
}

// shut are the ports that other hosts of the cluster need and from which no answer comes. A
// refused connection is an answer: no program listens there yet.
func shut(ctx context.Context, p plan.Plan, host netip.Addr) []string {
	bound, cancel := context.WithTimeout(ctx, inspect.ProbeTimeout)
	defer cancel()
	at := netip.AddrPortFrom(host, p.Ports[port.API])
	c, err := new(net.Dialer).DialContext(bound, "tcp", at.String())
	var late net.Error
	switch {
	case err == nil:
		_ = c.Close() // nothing was written
	case errors.As(err, &late) && late.Timeout() && ctx.Err() == nil:
		return []string{fmt.Sprintf("%d (%s)", at.Port(), port.API)}
	}
	return nil
}

// ownAddress is this host's address from which it reaches another one: no VIP.
func (i Inspector) ownAddress(to netip.Addr) netip.Addr {
	// Without a choice the address is invalid.
	choice, _ := addr.ForVIP(i.Host.Links, to, i.Plan.VIPs.All(), i.Host.Agreed)
	return choice.Address
}

// Reach tests the ways to other hosts, and the ports there that the cluster's hosts need.
func (i Inspector) Reach(
	ctx context.Context, peers []netip.Addr, members []facts.Member,
) []facts.Reached {
	hosts := slices.Clone(peers)
	for _, m := range members {
		if !m.Self && m.Named && len(hosts) < maxEchoes {
			hosts = append(hosts, m.Addresses[0])
		}
	}
	if !i.Live && len(peers) == 0 {
		i.Unseen.Add("the ways to other hosts, and whether VRRP passes",
			errors.New("specify their addresses: --peer ADDRESS"))
	}
	out := make([]facts.Reached, len(hosts))
	inspect.Each(hosts, func(n int, host netip.Addr) { out[n] = i.reach(ctx, host) })
	return slices.DeleteFunc(out, func(r facts.Reached) bool { return !r.Host.IsValid() })
}

// reach tests one host. The result has no Host if nothing could be tested.
func (i Inspector) reach(ctx context.Context, host netip.Addr) (r facts.Reached) {
	own := i.ownAddress(host)
	if !own.IsValid() {
		return r
	}
	r.Link = i.Host.Links.LinkOf(own)
	answered, err := i.Echo(own, host, smallPacket)
	if err != nil {
		i.Unseen.Add("the ways to other hosts", err)
		return facts.Reached{}
	}
	r.Host, r.Echo = host, answered
	if !answered {
		return r
	}
	if r.Full = i.MTU(r.Link); r.Full > 0 {
		if r.Whole, err = i.Echo(own, host, r.Full); err != nil {
			r.Full = 0
		}
	}
	if !i.Live && i.Plan.ByVRRP() {
		if arrives, err := i.VRRP(own, host); err == nil && arrives {
			r.VRRP = facts.VRRPArrives
		} else if err == nil {
			r.VRRP = facts.VRRPUnanswered
		}
	}
	r.Shut = i.Shut(ctx, host)
	return r
}
