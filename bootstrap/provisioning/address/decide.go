package address

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
)

// Probe is the result of the last probe for the address. At is zero if the link was not probed
// since it has carrier.
type Probe struct {
	Index int // of the link
	At    time.Time
	MACs  []string // of the other hosts that answered
}

// again is the time between two attempts that cost something: a probe that found another host,
// and the request for a link-local address, which changes the link.
const again = 5 * time.Second

// Snapshot is the input of the decision.
type Snapshot struct {
	At     time.Time
	Orders orders.Orders
	Cards  []addr.Ethernet
	Links  addr.Snapshot
	Claim  Claim
	Probe  Probe
	// Generated is when the kernel was last asked for a link-local address, which it refuses where
	// IPv6 is off.
	Generated time.Time
	Failed    string // why the last step failed; empty if it did not
}

// Step is one change. A round makes one at most; what it brings is observed in the next round.
type Step string

// The steps.
const (
	Remove    Step = "remove"
	Forget    Step = "forget" // a claim of an address that is not there
	Enable    Step = "enable"
	LinkLocal Step = "link-local"
	LoopRoute Step = "loop-route"
	Ask       Step = "ask"
	AskAndAdd Step = "ask-and-add" // it adds the address if no other host has it
	PutBack   Step = "put-back"
)

// Desired is what the room reports, and what it does next.
type Desired struct {
	Report orders.Report
	Step   Step // empty if there is nothing to do
	Claim  Claim
	Link   string
	Stale  bool // what a probe has found before is not valid any more
}

// Observe reads the orders, the links, and what an earlier run has added.
func (r *Room) Observe(context.Context) (s Snapshot, err error) {
	defer func() { r.unseen = err }()
	s = Snapshot{At: r.options.Now(), Probe: r.probe, Generated: r.generated,
		Failed: r.failed}
	if s.Orders, err = r.options.Files.Orders(); err != nil {
		return Snapshot{}, fmt.Errorf("read the orders: %w", err)
	}
	if s.Claim, err = r.options.Files.Claim(); err != nil {
		return Snapshot{}, err
	}
	if s.Cards, err = r.options.Host.Ethernets(); err != nil {
		return Snapshot{}, fmt.Errorf("read the cards: %w", err)
	}
	if s.Links, err = r.options.Host.Links(); err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	return s, nil
}

// Decide computes the next step towards the state that the orders ask for.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	var d Desired
	switch wanted := s.Orders.Wants(orders.Address); {
	case !r.own.IsValid():
		d.Report.On, d.Report.Ready = wanted, true
		d.Report.Why = "no address is needed: hosts reach everything at the API VIP"
	case wanted:
		d = r.hold(s)
	default:
		d = r.release(s)
	}
	d.Report.Generation = s.Orders.Generation
	if !d.Report.Ready && s.Failed != "" {
		d.Report.Why += ": " + s.Failed
	}
	return d, loop.Reasons{d.Report.Why}
}

// release decides while the orders are off.
func (r *Room) release(s Snapshot) Desired {
	d := Desired{Stale: true}
	if link := s.Claim.on(s.Links); link.Name != "" {
		return d.to(Remove, s.Claim, link.Name).reports(true, "removes %s from %s", s.Claim.Prefix,
			link.Name)
	}
	if s.Claim != (Claim{}) {
		d.Step, d.Claim = Forget, s.Claim
	}
	other := s.Links.LinkOf(r.own)
	switch {
	case other != "" && r.shared:
		return d.reports(true, "%s has %s, which another program has added and the cluster needs: "+
			"remove it there", other, r.own)
	case other != "":
		d = d.reports(false, "off; %s keeps %s, which another program has added", other, r.own)
	default:
		d = d.reports(false, "off: %s has no link", r.own)
	}
	d.Report.Ready = true
	// After a reboot the card is down. The phase machine, which may change no link, probes on it
	// for the machine that has the address of the cluster's own Ironic.
	to, err := r.choose(s)
	if d.Step == "" && s.Orders.Generation > 0 && err == nil && !to.Enabled {
		d = d.to(Enable, Claim{}, to.Name)
	}
	return d
}

// hold decides while the orders are on.
func (r *Room) hold(s Snapshot) Desired {
	var d Desired
	claimed := s.Claim.on(s.Links)
	to, err := r.choose(s)
	on := s.Links.LinkOf(r.own) != ""
	want := Claim{to.link.Index, to.prefix}
	if err != nil {
		return d.reports(on, "%v", err)
	}
	if claimed.Name != "" && s.Claim != want {
		return d.to(Remove, s.Claim, claimed.Name).reports(on, "removes %s from %s: it belongs to "+
			"%s as %s", s.Claim.Prefix, claimed.Name, to.Name, to.prefix)
	}
	if other := r.elsewhere(s.Links, want); other != "" {
		return d.reports(on, "%s, which another program has added: remove it there", other)
	}
	if !to.Enabled || !to.Carrier {
		d.Stale = true
		if to.Enabled {
			return d.reports(on, "%s (%s) has no carrier: check its cable", to.Name, to.MAC)
		}
		return d.to(Enable, want, to.Name).reports(on, "enables %s", to.Name)
	}
	if ready, next := r.linkLocal(s, to); !ready {
		next.Report.On = on
		return next
	}
	if !has(to.link, to.prefix) {
		return r.obtain(s, to, want)
	}
	return r.maintain(s, to, want)
}

// elsewhere describes where the address is against the plan: on another link, or with another
// prefix length.
func (r *Room) elsewhere(links addr.Snapshot, want Claim) string {
	for _, l := range links.Links {
		for _, a := range l.Addresses {
			if a.Prefix.Addr() == r.own && (l.Index != want.Index || a.Prefix != want.Prefix) {
				return fmt.Sprintf("%s has %s", l.Name, a.Prefix)
			}
		}
	}
	return ""
}

// linkLocal reports whether the link can be probed, for IPv6 by its link-local address, or else
// what is next. Hosts also get router advertisements and DHCPv6 from that address.
func (r *Room) linkLocal(s Snapshot, to target) (ready bool, next Desired) {
	if r.own.Is4() {
		return true, next
	}
	waits := false
	for _, a := range to.link.Addresses {
		if a.Prefix.Addr().Is6() && a.Prefix.Addr().IsLinkLocalUnicast() && !a.Duplicate {
			if !a.Tentative {
				return true, next
			}
			waits = true
		}
	}
	if waits {
		return false, next.reports(false, "the kernel checks the link-local address of %s", to.Name)
	}
	if s.At.Sub(s.Generated) >= again {
		next = next.to(LinkLocal, Claim{}, to.Name)
	}
	return false, next.reports(false, "%s has no link-local IPv6 "+
		"address: if IPv6 is off there, set the sysctl net.ipv6.conf.%[1]s.disable_ipv6 to 0",
		to.Name)
}

// obtain decides while the link does not have the address.
func (r *Room) obtain(s Snapshot, to target, want Claim) Desired {
	var d Desired
	asked := !s.Probe.At.IsZero() && s.Probe.Index == want.Index
	switch {
	case asked && len(s.Probe.MACs) > 0:
		if s.At.Sub(s.Probe.At) >= again {
			d = d.to(AskAndAdd, want, to.Name)
		}
		return d.reports(false, "%s is taken: %s for it on %s: %s", r.own, answers(s.Probe.MACs),
			to.Name, r.remedy(s.Probe.MACs))
	case asked && s.Claim == want:
		return d.to(PutBack, want, to.Name).reports(false, "puts %s back on %s", to.prefix, to.Name)
	}
	return d.to(AskAndAdd, want, to.Name).reports(false, "asks whether another host of %s has %s",
		to.Name, r.own)
}

// maintain decides while the link has the address.
func (r *Room) maintain(s Snapshot, to target, want Claim) Desired {
	var d Desired
	asked := !s.Probe.At.IsZero() && s.Probe.Index == want.Index
	others := asked && len(s.Probe.MACs) > 0
	if !asked || others && s.At.Sub(s.Probe.At) >= again {
		d = d.to(Ask, want, to.Name)
	}
	if others {
		return d.reports(true, "%s is taken, and this machine holds it too: %s for it on %s: %s",
			r.own, answers(s.Probe.MACs), to.Name, r.remedy(s.Probe.MACs))
	}
	for _, a := range to.link.Addresses {
		if a.Prefix == to.prefix && a.Tentative {
			return d.reports(true, "the kernel has found another host with %s, or still checks it",
				r.own)
		}
	}
	for _, route := range s.Links.Routes {
		if loops(s.Links, route, r.own) {
			return d.to(LoopRoute, want, to.Name).reports(true, "removes the route of %s to the "+
				"loopback link, by which it answers no host", r.own)
		}
	}
	d = d.reports(true, "holds %s on %s (%s)", to.prefix, to.Name, to.MAC)
	if s.Claim != want {
		d.Report.Why += ", where another program has added it"
	}
	d.Report.Ready = true
	return d
}

// loops reports whether a route leads packets for this host's own address to the loopback link.
func loops(s addr.Snapshot, route addr.Route, own netip.Addr) bool {
	if route.Destination != netip.PrefixFrom(own, own.BitLen()) {
		return false
	}
	for _, l := range s.Links {
		if l.Index == route.LinkIndex {
			return l.Name == "lo"
		}
	}
	return false
}

// answers describes hosts by their MACs, of which an attacker may invent any number.
func answers(macs []string) string {
	const few = 3
	switch {
	case len(macs) == 1:
		return "the host with the MAC " + macs[0] + " answers"
	case len(macs) > few:
		return fmt.Sprintf("%d hosts answer, such as those with the MACs %s", len(macs),
			strings.Join(macs[:few], ", "))
	}
	return "the hosts with the MACs " + strings.Join(macs, ", ") + " answer"
}

// remedy is what a person does about hosts that have the address. If this machine was off for a
// while, a node of the cluster takes a shared address once Ironic answers on that node.
func (r *Room) remedy(macs []string) string {
	isNode := func(text string) bool {
		return slices.ContainsFunc(r.options.Plan.Provisioning.Hosts, func(h provision.Host) bool {
			return h.Phase == provision.Bootstrap && h.MAC.String() == text
		})
	}
	if r.shared && !slices.ContainsFunc(macs, func(m string) bool { return !isNode(m) }) {
		return "that is a node of the cluster, whose Ironic was started too early: stop it until " +
			"this machine's phase is takeover (of ours, the Deployment metal3-ironic)"
	}
	return "switch that host off, or choose another address"
}

func (d Desired) to(step Step, claim Claim, link string) Desired {
	d.Step, d.Claim, d.Link = step, claim, link
	return d
}

// reports sets what is reported; a state is ready only if the caller sets that.
func (d Desired) reports(on bool, format string, args ...any) Desired {
	d.Report.On, d.Report.Why = on, fmt.Sprintf(format, args...)
	return d
}
