package vip

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip/conflict"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Snapshot is what the decision depends on.
type Snapshot struct {
	At           time.Time
	Links        addr.Snapshot
	Nodes        []addr.Candidate
	Verdict      release.Verdict
	Conflicts    map[netip.Addr]conflict.Finding // of VIPs that are not settled and not free
	Started      []vrrp.InstanceName
	OtherRouters clash.Snapshot // only where they decide which instance may start
}

// Desired is what should be on the machine.
type Desired struct {
	Run      bool // keepalived
	Released bool // keepalived should not run because the VIP is released
	Handover bool // and another holder is awaited first
	Config   keepalived.Config
	Pending  bool // another host may still answer for a VIP of Config
	// Conflicts are what to do about each VIP that another host has, or whose router ID another
	// router has. Config has no instance for it.
	Conflicts []string
	Nodes     []addr.Candidate // with which Config was made
	Listen    []clash.Instance // for which to observe other routers
}

// Observe reads the machine and the cluster.
func (r *Room) Observe(ctx context.Context) (Snapshot, error) {
	host := r.options.Host
	verdict, err := host.Verdict(ctx)
	if err != nil {
		return Snapshot{}, fmt.Errorf("probe the local API: %w", err)
	}
	conflicts, err := host.Conflicts(ctx)
	if err != nil {
		return Snapshot{}, fmt.Errorf("probe for other holders of the VIPs: %w", err)
	}
	links, err := host.Links()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	s := Snapshot{
		At: r.options.Now(), Links: links, Nodes: host.Nodes(), Verdict: verdict,
		Conflicts: conflicts, Started: host.Started(),
	}
	if r.options.Plan.VRRP.OnClash == clash.Refuse {
		s.OtherRouters = host.OtherRouters()
	}
	return s, nil
}

// Decide computes what should be on the machine, and why, one reason for each fact.
//
// Known nodes are never forgotten altogether: an API that lists none does not stop their
// keepalived, and with the group as its peer this machine would not reach them.
//
// A VIP that another host has is left to it: adverts from here would cut its connections, and its
// answers ours. The other VIP is not affected.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	if len(s.Nodes) == 0 {
		s.Nodes = r.nodes
	}
	r.past.Note(r.nodes, s.Nodes, s.At)
	r.nodes = s.Nodes
	why := loop.Reasons{s.Verdict.Why}
	if !s.Verdict.Hold {
		r.chooser = election.Chooser{}
		return Desired{Released: true, Handover: s.Verdict.Yield}, why
	}
	desired := Desired{Nodes: s.Nodes, Config: election.Config(r.options.Header)}
	for _, e := range r.elections(s.Nodes) {
		for _, v := range e.VIPs {
			why = append(why, r.decide(e, v, s, &desired))
		}
	}
	desired.Run = len(desired.Config.Instances) > 0
	return desired, why
}

// elections are those of the VIPs that this machine holds first. They are closed: nodes advertise
// from the addresses that the API names, and no other router may outrank this machine.
func (r *Room) elections(nodes []addr.Candidate) []election.Election {
	all := election.For(r.options.Plan, role.Bootstrap)
	for i := range all {
		all[i].Nodes, all[i].Past.Nodes, all[i].Closed = nodes, &r.past, true
	}
	return all
}

// decide adds a VIP's part to what is desired, and returns the reason.
func (r *Room) decide(e election.Election, v election.VIP, s Snapshot, d *Desired) (why string) {
	found := s.Conflicts[v.Address]
	on, err := r.chooser.Choose(e, v, election.Observation{At: s.At, Links: s.Links})
	listened := e.ClashInstance(v, on, nil) // its members are not known here: nodes may join
	if err == nil {
		d.Listen = append(d.Listen, listened)
	}
	if holder := found.Holder; holder.MAC != "" {
		return d.addConflict(fmt.Sprintf("%[1]s is held by another host, %[2]s on %[3]s: "+
			"take it off that host or choose another %[4]s VIP; "+
			"if that host only answers for others, add --assume-free %[1]s by systemctl edit "+
			"onprem-keepalived",
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
	if ok, clashes := s.OtherRouters.May(r.options.Plan.VRRP.OnClash, listened, started); !ok {
		return d.addConflict(fmt.Sprintf("no instance for %s: %s", v.Address, clashes))
	}
	why = fmt.Sprintf("%s on %s: %s", v.Address, on.Link, on.Why)
	if !on.OnLink {
		why += ", so that no probe can show whether another host holds it"
	}
	why += ", " + setPeers(e, v, &inst)
	d.Config.Instances = append(d.Config.Instances, inst)
	d.Pending = d.Pending || found.Pending
	if router := found.Router; router.MAC != "" {
		why += fmt.Sprintf("; %s on %s answers for it, and is the gateway: "+
			"it counts as a router that answers for others", router.MAC, router.Link)
	}
	return why
}

// addConflict notes why a VIP has no instance.
func (d *Desired) addConflict(why string) string {
	d.Conflicts = append(d.Conflicts, why)
	return why
}

// setPeers gives an instance its peers, and names them.
func setPeers(e election.Election, v election.VIP, inst *keepalived.Instance) string {
	if !e.Unicast {
		return "multicast as the cluster asks"
	}
	e.SetPeers(inst, e.Members(v, netip.Addr{})) // this machine is not one of the nodes
	if !inst.Known {
		return "multicast until a control plane node is known"
	}
	return fmt.Sprintf("unicast with %s; adverts of other routers are dropped",
		election.Join(inst.Peers))
}
