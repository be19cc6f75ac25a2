// Package routed inspects how a host announces VIPs to its routers: the files of its monitor and of
// its speaker, what the kernel has, and what the routers answer.
package routed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/bgp/message"
	"github.com/onprem-infra/onprem-infra/shared/host/bgpprobe"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/announced"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/spread"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// Inspector inspects a host's way to its routers.
type Inspector struct {
	inspect.Scope
	Probes
	Host *inspect.Inspector
	// Passwords are those for questions to routers before a host has its file.
	Passwords map[string]secret.Text
	// Nodes is how many control plane nodes may announce the API's VIPs.
	Nodes int
}

// Probes are the sources of facts other than files. A test replaces them.
type Probes struct {
	Alive   func(ctx context.Context, number uint16, path string) error // a server of this host
	Ask     func(ctx context.Context, q bgpprobe.Question) message.Answer
	Connect func(ctx context.Context, q bgpprobe.Question) message.Answer
	Echo    func(from, to netip.Addr, bytes int) (bool, error)
	MTU     func(link string) int
	Sockets func() ([]facts.Socket, error) // of other programs, at the ports of BGP and BFD
	// Sessions are those of other programs with a router.
	Sessions func(router netip.Addr) ([]facts.Socket, error)
	Drops    func() (facts.Drops, error)    // since the boot
	Filter   func(link string) (int, error) // of sources
	// UsedDown reports whether routes over a link without a carrier are used.
	UsedDown func(link string) (bool, error)
	Sources  func() ([]facts.Source, error) // of routes
	Spread   func(ctx context.Context, q spread.Question) facts.Spread
	Pause    time.Duration // between two readings of Drops
}

// Routed inspects everything; nil for a host that announces no VIP, and will announce none.
func (i Inspector) Routed(ctx context.Context) *facts.Routed {
	if i.Plan.BGP == nil || i.Live && !i.Speaks() {
		return nil
	}
	links := i.Scope.Host.Links
	rack, err := announced.Rack(i.Host, links)
	f := &facts.Routed{NoBFD: err == nil && rack.Timing.BFDIntervalMs == 0}
	if f.Rack = rack.String(); err != nil {
		f.Rack, f.NoRack = "", err.Error()
	}
	if i.Live {
		f.Report = new(announced.Report(i.Host, links, i.Unseen))
		f.Fault = i.silent(ctx)
	}
	own, known := i.passwords()
	if f.Passwords = own; i.Passwords == nil {
		i.Passwords = known
	}
	f.Others = seen(i, "sockets of BGP and BFD", i.Sockets)
	f.Sources = slices.DeleteFunc(seen(i, "sources of routes", i.Sources),
		func(s facts.Source) bool { return !slices.Contains(i.Plan.VIPs.All(), s.VIP) })
	peers := i.peers(rack)
	f.Others = append(f.Others, i.rivals(peers)...)
	f.Uplinks = i.uplinks(peers)
	i.ask(ctx, f, rack, peers)
	f.Spreads = i.spreads(ctx)
	return f
}

// seen is a list, or nothing, with a note.
func seen[T any](i Inspector, what string, list func() ([]T, error)) []T {
	all, err := list()
	i.Unseen.Add(what, err)
	return all
}

// rivals are other programs' sessions with this host's routers from the address that the host has
// its own from: a router has one session with an address.
func (i Inspector) rivals(peers []routed.Peer) (all []facts.Socket) {
	for _, p := range peers {
		_, own := i.near(p.Address)
		own = cmp.Or(p.Source.Addr(), own)
		for _, s := range seen(i, "sessions with the router "+p.Name(),
			func() ([]facts.Socket, error) { return i.Sessions(p.Address) }) {
			if !own.IsValid() || s.From == own {
				all = append(all, s)
			}
		}
	}
	return all
}

// silent is why the speaker does not answer; empty if it does.
func (i Inspector) silent(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, inspect.ProbeTimeout)
	defer cancel()
	if err := i.Alive(ctx, i.Plan.Ports[port.Speaker], "/healthz"); err != nil {
		return inspect.WithoutURL(err)
	}
	return ""
}

// peers are the routers of a rack that have addresses: a rack without any has the host's gateways,
// by the rules of its monitor.
func (i Inspector) peers(rack routed.Rack) (all []routed.Peer) {
	routers := rack.Peers
	if len(routers) == 0 && (rack.Network.IsValid() || rack.Name != "") {
		for _, p := range announcing.Gateways(i.Scope.Host.Links, announcing.VIPs(i.Plan, i.Role)) {
			routers = append(routers, routed.Peer{Address: p.Address, Interface: p.Interface})
		}
	}
	for _, p := range routers {
		if p.Interface != "" {
			i.Unseen.Add("router at "+p.Interface, errors.New("its address is not in the "+
				"description: only the speaker finds it, by router advertisements"))
			continue
		}
		source, err := announcing.Source(p, i.Scope.Host.Links, i.Plan.VIPs.All())
		if i.Unseen.Add("router "+p.Name(), err); err != nil {
			continue
		}
		p.Source.Prefix = netip.Prefix{}
		if source.IsValid() {
			p.Source.Prefix = netip.PrefixFrom(source, source.BitLen())
		}
		all = append(all, p)
	}
	return all
}

// ask asks the routers concurrently, and meanwhile counts what the kernel drops.
func (i Inspector) ask(
	ctx context.Context, f *facts.Routed, rack routed.Rack, peers []routed.Peer,
) {
	f.Asked = make([]facts.Asked, len(peers))
	f.Paths = make([]facts.Path, len(peers))
	down := f.Report != nil && slices.ContainsFunc(f.Report.Routers, isDown(f))
	counted := make(chan facts.Drops, 1)
	go func() { counted <- i.drops(ctx, down) }()
	inspect.Each(peers, func(n int, p routed.Peer) {
		f.Asked[n] = facts.Asked{Router: p.Name(), Answer: i.question(ctx, p, rack, f)}
		f.Paths[n] = i.path(p)
	})
	f.Drops = <-counted
	f.Asked = slices.DeleteFunc(f.Asked, func(a facts.Asked) bool { return a.Outcome == "" })
	f.Paths = slices.DeleteFunc(f.Paths, func(p facts.Path) bool { return p.Full == 0 })
}

// question asks one router. A live host only opens a connection, and none if its session is up.
func (i Inspector) question(
	ctx context.Context, p routed.Peer, rack routed.Rack, f *facts.Routed,
) (a message.Answer) {
	q := bgpprobe.Question{Router: p.Address, ASN: p.ASN, Source: p.Source.Addr(), Hops: p.Hops,
		TTLSecurity: p.TTLSecurity, Password: i.Passwords[p.Name()], Own: message.Open{
			ASN: i.Plan.BGP.ASN, Hold: rack.Timing.HoldS, Router: i.identifier(p.Address)}}
	if f.Report == nil {
		return i.Ask(ctx, q)
	}
	for _, r := range f.Report.Routers {
		if r.Router == p.Name() && r.Up {
			return a
		}
	}
	return i.Connect(ctx, q)
}

// identifier is the BGP identifier for a question: an own IPv4 address, else one of RFC 5737's.
func (i Inspector) identifier(router netip.Addr) netip.Addr {
	for _, l := range i.Scope.Host.Links.Links {
		for _, a := range l.Addresses {
			own := a.Prefix.Addr()
			if own.Is4() && !own.IsLoopback() && own != router {
				return own
			}
		}
	}
	return netip.AddrFrom4([4]byte{192, 0, 2, 1})
}

// path checks whether a router on a link answers echo requests that fill the link's MTU.
func (i Inspector) path(p routed.Peer) (out facts.Path) {
	link, own := i.near(p.Address)
	if link == "" {
		return out
	}
	const small = 84
	if answers, err := i.Echo(own, p.Address, small); err != nil || !answers {
		return out // many routers answer none, or this host may not ask
	}
	out = facts.Path{Router: p.Name(), Link: link, Full: i.MTU(link)}
	whole, err := i.Echo(own, p.Address, out.Full)
	if out.Whole = whole; err != nil {
		out.Full = 0
	}
	return out
}

// near is the link in whose network an address is, and this host's own address there.
func (i Inspector) near(a netip.Addr) (link string, own netip.Addr) {
	for _, l := range i.Scope.Host.Links.Links {
		for _, has := range l.Addresses {
			if has.Prefix.Contains(a) && has.Prefix.Bits() < a.BitLen() && has.Prefix.Addr() != a {
				return l.Name, has.Prefix.Addr()
			}
		}
	}
	return "", own
}

// uplinks are the links on which routers are.
func (i Inspector) uplinks(peers []routed.Peer) (all []facts.Uplink) {
	for _, p := range peers {
		link, _ := i.near(p.Address)
		has := func(u facts.Uplink) bool { return u.Link == link }
		if link == "" || !p.Address.Is4() || slices.ContainsFunc(all, has) {
			continue
		}
		filter, err := i.Filter(link)
		i.Unseen.Add("the filter of sources on "+link, err)
		down, err := i.UsedDown(link)
		i.Unseen.Add("whether routes over "+link+" are used without a carrier", err)
		all = append(all, facts.Uplink{Link: link, Filter: filter, UsedDown: down})
	}
	return all
}

// drops are what the kernel drops within the pause, if a session is down.
func (i Inspector) drops(ctx context.Context, down bool) (d facts.Drops) {
	if !down {
		return d
	}
	before, err := i.Drops()
	i.Unseen.Add("the kernel's counters of TCP", err)
	if err != nil {
		return d
	}
	select {
	case <-ctx.Done():
	case <-time.After(i.Pause):
	}
	after, err := i.Drops()
	if err != nil {
		return d
	}
	return facts.Drops{TTL: after.TTL - before.TTL, Unsigned: after.Unsigned - before.Unsigned,
		Signed: after.Signed - before.Signed, Differing: after.Differing - before.Differing}
}

// words of an error in one line.
func words(err error) string { return strings.Join(strings.Fields(fmt.Sprint(err)), " ") }
