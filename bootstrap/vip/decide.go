package vip

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// addressGap is how long the machine may be without an address on a VIP's network before the VIP's instance goes. A DHCP client that
// replaces an address removes the old one first.
const addressGap = 5 * time.Second

// Snapshot is all that the decision depends on.
type Snapshot struct {
	At      time.Time
	Links   addr.Snapshot
	Nodes   []addr.Node
	Verdict release.Verdict
	Claims  map[netip.Addr]Claim // on API VIPs, but for those that are settled or free
	Started []vrrp.InstanceName
	Air     clash.Air // only where it decides who may start
}

// Desired is what should be on the machine.
type Desired struct {
	Run      bool // whether keepalived should run
	Released bool // it should not because the VIP has been given up
	Yield    bool // and another holder is to be waited for first
	Config   keepalived.Config
	Asking   bool             // another host may still answer for a VIP in Config
	Taken    []string         // says of each VIP that another host holds, or whose router ID another router has, who that is and what to do; Config has no instance for it
	Nodes    []addr.Node      // that Config was made with
	Hears    []clash.Instance // elections in which this machine takes part, or will
}

// seen is when a VIP last had an own address beside it, and which.
type seen struct {
	choice addr.Choice
	at     time.Time
}

// Observe reads the machine and the cluster. It judges nothing.
func (r *Room) Observe(ctx context.Context) (Snapshot, error) {
	verdict, err := r.host.Verdict(ctx)
	if err != nil {
		return Snapshot{}, fmt.Errorf("look at the local API: %w", err)
	}
	claims, err := r.host.Claims(ctx)
	if err != nil {
		return Snapshot{}, fmt.Errorf("look for other holders of the VIPs: %w", err)
	}
	links, err := r.host.Links()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	s := Snapshot{At: r.now(), Links: links, Nodes: r.host.Nodes(), Verdict: verdict, Claims: claims, Started: r.host.Started()}
	if r.plan.VRRP.OnClash == clash.Refuse {
		s.Air = r.host.Air()
	}
	return s, nil
}

// Decide says what should be on the machine, and why, one reason a fact.
//
// Nodes are never forgotten altogether: an API that lists none, or has not spoken since this program started, does not make the nodes
// that run keepalived vanish, and back in multicast none of them would hear this machine.
//
// A VIP that a stranger holds is left to him: keepalived's announcements would take his connections away, and he would take ours. The
// other VIP does not suffer from it.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	if len(s.Nodes) > 0 {
		r.past.Note(r.nodes, s.Nodes, s.At)
		r.nodes = s.Nodes
	}
	s.Nodes = r.nodes
	why := loop.Reasons{s.Verdict.Why}
	if !s.Verdict.Hold {
		clear(r.seen)
		return Desired{Released: true, Yield: s.Verdict.Yield}, why
	}
	desired := Desired{Nodes: s.Nodes, Config: keepalived.Config{
		Header:     r.header,
		NotifyFIFO: RunDir + "/" + supervised.NotifyFIFO,
		Leave:      RunDir + "/" + supervised.TrackDir + "/" + supervised.LeaveTrack,
	}}
	for _, own := range r.elections() {
		vip := own.vip
		claim, hears, near := s.Claims[vip], clash.Instance{}, false
		if hears, near = r.hears(own, s); near {
			desired.Hears = append(desired.Hears, hears)
		}
		if holder := claim.Holder; holder.MAC != "" {
			taken := fmt.Sprintf("%[1]s is held by another host, %[2]s on %[3]s: take it off that host or choose another %[4]s VIP; "+
				"if that host only answers for others, add --assume-free %[1]s by systemctl edit onprem-keepalived", vip, holder.MAC, holder.Link, strings.ToUpper(string(own.kind)))
			desired.Taken, why = append(desired.Taken, taken), append(why, taken)
			continue
		}
		inst, reason, err := r.instance(own, s)
		if err != nil {
			why = append(why, fmt.Sprintf("no instance for %s: %v", vip, err))
			continue
		}
		if ok, clashes := s.Air.May(r.plan.VRRP.OnClash, hears, slices.Contains(s.Started, inst.Name)); !ok {
			clashes = fmt.Sprintf("no instance for %s: %s", vip, clashes)
			desired.Taken, why = append(desired.Taken, clashes), append(why, clashes)
			continue
		}
		desired.Config.Instances = append(desired.Config.Instances, inst)
		desired.Asking = desired.Asking || claim.Asking
		if router := claim.Router; router.MAC != "" {
			reason += fmt.Sprintf("; %s on %s answers for it, and is the gateway: it is taken for a router that answers for others", router.MAC, router.Link)
		}
		why = append(why, reason)
	}
	desired.Run = len(desired.Config.Instances) > 0
	return desired, why
}

// election is one that this machine takes part in.
type election struct {
	kind     vrrp.Kind
	name     vrrp.InstanceName
	vip      netip.Addr
	id       vrrp.ID
	priority vrrp.Priority
}

// elections are those of the VIPs that this machine holds first.
func (r *Room) elections() (all []election) {
	p := r.plan
	for i, vip := range p.VIPs.API {
		all = append(all, election{vrrp.API, vrrp.Name(p.Cluster.Name, vrrp.API, i), vip, p.VRRP.API.ID, p.VRRP.BootstrapPriority})
	}
	for i, vip := range p.VIPs.DNS {
		all = append(all, election{vrrp.DNS, vrrp.Name(p.Cluster.Name, vrrp.DNS, i), vip, p.VRRP.DNS.ID, p.VRRP.DNSBootstrapPriority})
	}
	return all
}

// hears is an election as whoever listens to it must know it; false while the machine has no link for it. Who else may hold the VIP is not known here: nodes
// join as they like.
func (r *Room) hears(e election, s Snapshot) (clash.Instance, bool) {
	p, model := r.plan, r.plan.Timing.Model
	on, err := r.choose(e.vip, s)
	return clash.Instance{
		Name: e.name, Kind: e.kind, Link: on.Link, ID: e.id, Version: model.Version(e.vip), Interval: model.Advert, VIP: e.vip,
		Unicast: p.VRRP.Mode != spec.Multicast, Near: on.OnLink, Own: on.Address,
	}, err == nil
}

// choose finds the VIP's interface, or for a while the one that it had.
func (r *Room) choose(vip netip.Addr, s Snapshot) (addr.Choice, error) {
	choice, err := addr.ForVIP(s.Links, vip, others(r.plan), nil)
	if err == nil {
		r.seen[vip] = seen{choice: choice, at: s.At}
		return choice, nil
	}
	if last, ok := r.seen[vip]; ok && s.At.Sub(last.at) < addressGap {
		return last.choice, nil
	}
	return addr.Choice{}, err
}

// instance is the VRRP instance of an election.
func (r *Room) instance(e election, s Snapshot) (keepalived.Instance, string, error) {
	p, vip := r.plan, e.vip
	choice, err := r.choose(vip, s)
	if err != nil {
		return keepalived.Instance{}, "", err
	}
	link, err := keepalived.ParseInterface(choice.Link)
	if err != nil {
		return keepalived.Instance{}, "", err
	}
	inst := keepalived.Instance{
		Name:      e.name,
		Interface: link,
		ID:        e.id,
		Version:   p.Timing.Model.Version(vip),
		Priority:  e.priority,
		Advert:    p.Timing.Model.Advert,
		Refresh:   p.Timing.Model.Refresh,
		VIP:       vip,
	}
	if inst.Version == vrrp.V2 {
		inst.AuthPass = vrrp.CompatAuth(p.Cluster.Name, e.kind)
	}
	where := fmt.Sprintf("%s on %s: %s", vip, choice.Link, choice.Why)
	if !choice.OnLink {
		where += ", so that nobody can be asked whether another host holds it"
	}
	if p.VRRP.Mode == spec.Multicast {
		return inst, where + ", multicast as the cluster asks", nil
	}
	inst.Source, inst.Peers = choice.Address, peersOf(p, vip, choice.Address, r.speakers(s.Nodes))
	if len(inst.Peers) > 0 {
		// Nodes advertise here from the addresses that the API has of them. No other host may outrank this machine.
		inst.Known, inst.Near = true, vrrp.HopLimited(vip, inst.Advert)
		return inst, where + ", unicast with " + join(inst.Peers) + ", and nobody else is heard", nil
	}
	inst.Peers = []netip.Addr{keepalived.Group(vip)}
	return inst, where + ", multicast until a control plane node is known", nil
}

// speakers are the nodes, and what they were just now: one whose object lacks an address for a moment listens there all the while, and would take the
// VIP if it heard nobody.
func (r *Room) speakers(nodes []addr.Node) []addr.Node {
	all := slices.Clone(nodes)
	for _, node := range nodes {
		all = append(all, r.past.Of(node.Name)...)
	}
	return all
}

// peersOf are the control plane nodes' addresses of the VIP's family, sorted, without this machine's own.
func peersOf(p plan.Plan, vip, own netip.Addr, nodes []addr.Node) []netip.Addr {
	var peers []netip.Addr
	for _, node := range nodes {
		// The own address is no hint here: this machine is not one of the nodes.
		peers = append(peers, addr.Members(node, vip, netip.Addr{}, others(p), p.MachineNetworks)...)
	}
	slices.SortFunc(peers, netip.Addr.Compare)
	return slices.Compact(slices.DeleteFunc(peers, func(a netip.Addr) bool { return a == own }))
}

func join(addrs []netip.Addr) string {
	texts := make([]string, len(addrs))
	for i, a := range addrs {
		texts[i] = a.String()
	}
	return strings.Join(texts, " ")
}
