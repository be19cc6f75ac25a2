package vip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// addressGap is how long the machine may be without an address on the VIP's network before keepalived is stopped. A DHCP client that
// replaces an address removes the old one first.
const addressGap = 5 * time.Second

// Snapshot is all that the decision depends on.
type Snapshot struct {
	At      time.Time
	Links   addr.Snapshot
	Nodes   []addr.Node
	Verdict Verdict
}

// Desired is what should be on the machine.
type Desired struct {
	Run    bool // whether keepalived should run
	Config keepalived.Config
}

// last is the memory of the decision: what was last wanted with an address present, and when that was.
type last struct {
	desired Desired
	why     loop.Reasons
	at      time.Time
}

// Observe reads the machine and the cluster. It judges nothing.
func (r *Room) Observe(context.Context) (Snapshot, error) {
	verdict, ok := r.host.Verdict()
	if !ok {
		return Snapshot{}, errors.New("look at the local API: no answer yet")
	}
	links, err := r.host.Links()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	return Snapshot{At: r.now(), Links: links, Nodes: r.host.Nodes(), Verdict: verdict}, nil
}

// Decide says what should be on the machine, and why, one reason a fact.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	if !s.Verdict.Hold {
		r.last = last{}
		return Desired{}, loop.Reasons{s.Verdict.Why}
	}
	desired := Desired{Config: keepalived.Config{Header: r.header, NotifyFIFO: RunDir + "/" + supervised.NotifyFIFO}}
	why := loop.Reasons{s.Verdict.Why}
	for i, vip := range r.plan.VIPs.API {
		choice, err := addr.ForVIP(s.Links, vip, others(r.plan), netip.Addr{})
		if err != nil {
			why = append(why, fmt.Sprintf("no instance for %s: %v", vip, err))
			continue
		}
		inst, reason := instance(r.plan, i, choice, s)
		if inst.Interface, err = keepalived.ParseInterface(choice.Link); err != nil {
			why = append(why, fmt.Sprintf("no instance for %s: %v", vip, err))
			continue
		}
		desired.Config.Instances = append(desired.Config.Instances, inst)
		why = append(why, reason)
	}
	desired.Run = len(desired.Config.Instances) > 0
	if !desired.Run && r.last.desired.Run && s.At.Sub(r.last.at) < addressGap {
		return r.last.desired, r.last.why
	}
	if desired.Run {
		r.last = last{desired: desired, why: why, at: s.At}
	}
	return desired, why
}

// instance is the VRRP instance of the i-th API VIP, but for its interface.
func instance(p plan.Plan, i int, choice addr.Choice, s Snapshot) (keepalived.Instance, string) {
	vip := p.VIPs.API[i]
	inst := keepalived.Instance{
		Name:     vrrp.InstanceName(fmt.Sprintf("%s_API_%d", p.Cluster.Name, i)),
		ID:       p.VRRP.API.ID,
		Version:  vrrp.VersionFor(vip),
		Priority: p.VRRP.BootstrapPriority,
		Advert:   time.Duration(p.Timing.AdvertIntervalMs) * time.Millisecond,
		VIP:      vip,
	}
	if inst.Version == vrrp.V2 {
		inst.AuthPass = vrrp.CompatAuth(p.Cluster.Name, "api")
	}
	where := fmt.Sprintf("%s on %s: %s", vip, choice.Link, choice.Why)
	if p.VRRP.Mode == spec.Multicast {
		return inst, where + ", multicast as the cluster asks"
	}
	inst.Source, inst.Peers = choice.Address, peersOf(p, vip, choice.Address, s)
	if len(inst.Peers) > 0 {
		return inst, where + ", unicast with " + join(inst.Peers)
	}
	inst.Peers = []netip.Addr{keepalived.Group(vip)}
	return inst, where + ", multicast until a control plane node is known"
}

// peersOf are the control plane nodes' addresses of the VIP's family, sorted, without this machine's own.
func peersOf(p plan.Plan, vip, own netip.Addr, s Snapshot) []netip.Addr {
	var peers []netip.Addr
	for _, node := range s.Nodes {
		// The own address is no hint here: this machine is not one of the nodes.
		if peer, ok := addr.Member(node, vip, netip.Addr{}, others(p), p.MachineNetworks); ok && peer != own {
			peers = append(peers, peer)
		}
	}
	slices.SortFunc(peers, netip.Addr.Compare)
	return slices.Compact(peers)
}

func join(addrs []netip.Addr) string {
	texts := make([]string, len(addrs))
	for i, a := range addrs {
		texts[i] = a.String()
	}
	return strings.Join(texts, " ")
}
