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
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

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
// Nodes are never forgotten altogether: an API that lists none, or has not spoken since this
// program started, does not make the nodes that run keepalived vanish, and back in multicast none
// of them would hear this machine.
//
// A VIP that a stranger holds is left to him: keepalived's announcements would take his connections
// away, and he would take ours. The other VIP does not suffer from it.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	if len(s.Nodes) > 0 {
		r.past.Note(r.nodes, s.Nodes, s.At)
		r.nodes = s.Nodes
	}
	s.Nodes = r.nodes
	why := loop.Reasons{s.Verdict.Why}
	if !s.Verdict.Hold {
		r.chooser = election.Chooser{}
		return Desired{Released: true, Yield: s.Verdict.Yield}, why
	}
	desired := Desired{Nodes: s.Nodes, Config: election.Config(r.header)}
	for _, e := range r.elections(s.Nodes) {
		for _, v := range e.VIPs {
			why = append(why, r.decide(e, v, s, &desired))
		}
	}
	desired.Run = len(desired.Config.Instances) > 0
	return desired, why
}

// elections are those of the VIPs that this machine holds first. They are closed: nodes advertise
// from the addresses that the API has of them, and no other host may outrank this machine.
func (r *Room) elections(nodes []addr.Node) []election.Election {
	all := election.For(r.plan, role.Bootstrap)
	for i := range all {
		all[i].Nodes, all[i].Past, all[i].Closed = nodes, &r.past, true
	}
	return all
}

// decide adds what there is for a VIP to what is desired, and says why.
func (r *Room) decide(e election.Election, v election.VIP, s Snapshot, d *Desired) (why string) {
	claim := s.Claims[v.Address]
	on, err := r.chooser.Choose(e, v, election.Observation{At: s.At, Links: s.Links})
	hears := e.ClashInstance(v, on, nil) // no members are known here: nodes join as they like
	if err == nil {
		d.Hears = append(d.Hears, hears)
	}
	if holder := claim.Holder; holder.MAC != "" {
		return d.take(fmt.Sprintf("%[1]s is held by another host, %[2]s on %[3]s: "+
			"take it off that host or choose another %[4]s VIP; "+
			"if that host only answers for others, add --assume-free %[1]s by systemctl edit onprem-keepalived",
			v.Address, holder.MAC, holder.Link, strings.ToUpper(string(e.Kind))))
	}
	var inst keepalived.Instance
	if err == nil {
		inst, err = e.Instance(v, on, e.Bootstrap)
	}
	if err != nil {
		return fmt.Sprintf("no instance for %s: %v", v.Address, err)
	}
	started := slices.Contains(s.Started, inst.Name)
	if ok, clashes := s.Air.May(r.plan.VRRP.OnClash, hears, started); !ok {
		return d.take(fmt.Sprintf("no instance for %s: %s", v.Address, clashes))
	}
	why = fmt.Sprintf("%s on %s: %s", v.Address, on.Link, on.Why)
	if !on.OnLink {
		why += ", so that nobody can be asked whether another host holds it"
	}
	why += ", " + setPeers(e, v, &inst)
	d.Config.Instances = append(d.Config.Instances, inst)
	d.Asking = d.Asking || claim.Asking
	if router := claim.Router; router.MAC != "" {
		why += fmt.Sprintf("; %s on %s answers for it, and is the gateway: "+
			"it is taken for a router that answers for others", router.MAC, router.Link)
	}
	return why
}

// take notes that a VIP has no instance as another host has it, or its router ID.
func (d *Desired) take(why string) string {
	d.Taken = append(d.Taken, why)
	return why
}

// setPeers gives an instance its peers, if it is to have some, and says which.
func setPeers(e election.Election, v election.VIP, inst *keepalived.Instance) string {
	if !e.Unicast {
		return "multicast as the cluster asks"
	}
	e.SetPeers(inst, e.Members(v, netip.Addr{})) // this machine is not one of the nodes
	if !inst.Known {
		return "multicast until a control plane node is known"
	}
	return fmt.Sprintf("unicast with %s, and nobody else is heard", join(inst.Peers))
}

func join(addrs []netip.Addr) string {
	texts := make([]string, len(addrs))
	for i, a := range addrs {
		texts[i] = a.String()
	}
	return strings.Join(texts, " ")
}
