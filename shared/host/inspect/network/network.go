// Package network inspects what a host sees of its VIPs and of other hosts, by asking the network.
package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
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

// Probes are what is asked of others than files, so that a test can answer.
type Probes struct {
	Now        func() time.Time
	Adverts    func(ctx context.Context, link string, receive func(capture.Received)) error
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
		VRRP:       reach.VRRP,
		Neighbours: link.Neighbours, MTU: mtu, Nodes: nodes,
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

// between are the ports of a host that other hosts of the cluster need.
var between = []string{port.API}

// shut are the ports from which nothing comes back. A refusal does: no program listens there yet.
func shut(ctx context.Context, p plan.Plan, host netip.Addr) (shut []string) {
	for _, name := range between {
		bound, cancel := context.WithTimeout(ctx, inspect.ProbeTimeout)
		c, err := new(net.Dialer).DialContext(bound, "tcp",
			netip.AddrPortFrom(host, p.Ports[name]).String())
		cancel()
		var late net.Error
		switch {
		case err == nil:
			_ = c.Close() // nothing was written
		case errors.As(err, &late) && late.Timeout() && ctx.Err() == nil:
			shut = append(shut, fmt.Sprintf("%d (%s)", p.Ports[name], name))
		}
	}
	return shut
}

// ownAddress is this host's address from which it reaches another one: no VIP.
func (i Inspector) ownAddress(to netip.Addr) netip.Addr {
	choice, _ := addr.ForVIP(
		i.Host.Links, to, i.Plan.VIPs.All(), i.Host.Agreed) // no choice has no address
	return choice.Address
}

// Reach asks other hosts for packets, and for the ports that the cluster's hosts need.
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
	var asked sync.WaitGroup
	out := make([]facts.Reached, len(hosts))
	for n, host := range hosts {
		asked.Go(func() { out[n] = i.reach(ctx, host) })
	}
	asked.Wait()
	return slices.DeleteFunc(out, func(r facts.Reached) bool { return !r.Host.IsValid() })
}

// reach asks one host. Its result has no host if nothing could be seen.
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
	if !i.Live {
		if arrives, err := i.VRRP(own, host); err == nil {
			r.VRRP = map[bool]facts.VRRPPath{true: facts.VRRPArrives, false: facts.VRRPUnanswered}[arrives]
		}
	}
	r.Shut = i.Shut(ctx, host)
	return r
}
