package vip

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Desired is what should be on the machine.
type Desired struct {
	Leave  bool // what is in force stays in force: nothing is known that could be better
	Config keepalived.Config
	Memory Memory
	Tell   string // this machine's Node, if it is to say that the bootstrap machine is gone; else empty
	Claim  Claim
	Hears  []clash.Instance // elections in which this node takes part, or will
}

// Decide says what should be on the machine, and why, one reason a fact. It has no clock; its only
// state is what it has learnt.
//
// While the API has not said who the nodes are, and no earlier run has kept them, the configuration
// in force stays: an API that is away must not take the VIPs off.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	d := Desired{Config: election.Config(r.header)}
	if s.Remote {
		d.Memory = r.memory
		return d, loop.Reasons{"a remote worker holds no VIP"}
	}
	r.learn(s)
	d.Claim = r.standing(s)
	d.Memory, d.Tell, d.Hears = r.memory, r.tells(s), r.hears(s)
	if len(r.memory.Nodes) == 0 && !r.first {
		d.Leave = true
		return d, loop.Reasons{"the API has not named the nodes yet"}
	}
	var why loop.Reasons
	for _, e := range r.elections() {
		if r.first && e.Kind != vrrp.API {
			continue // whoever shall hold another VIP is named first
		}
		// The bootstrap machine has both until then, and this node may not know it yet.
		if e.Kind != vrrp.Ingress && !r.memory.Open {
			why = append(why, "no "+upper(e)+" instance: this node has not seen the API work yet")
			continue
		}
		if e.Kind != vrrp.Ingress && len(e.Scheme.Ranks) > 0 && r.place.full {
			// A node of an equal priority would take the VIP at the same time as another one.
			why = append(why, fmt.Sprintf("no %s instance: other nodes have all %d ranks%s",
				upper(e), len(e.Scheme.Ranks), r.place.dead))
			continue
		}
		why = append(why, r.stand(e, s, &d.Config)...)
	}
	d.Memory = r.memory // with what is started now
	return d, why
}

// upper is an election's kind as it stands in names.
func upper(e election.Election) string { return strings.ToUpper(string(e.Kind)) }

// elections are those that this node may take part in. The API's is closed once the bootstrap
// machine has gone and the API has named the nodes since this program started: the list of an
// earlier run may lack the node that holds the VIP, and the API would come through it.
func (r *Room) elections() []election.Election {
	all := election.For(r.plan, r.role)
	for i := range all {
		e := &all[i]
		e.Past, e.Nodes = &r.past, r.controlPlane()
		switch {
		case e.Kind != vrrp.Ingress:
			e.Alone, e.Closed = r.first && e.Kind == vrrp.API, r.memory.BootstrapGone && r.named
		case WatchesAll(r.plan):
			e.Nodes, e.Closed = append(e.Nodes, r.workers()...), true
		default:
			e.Candidates, e.Closed = r.memory.Candidates, true
		}
	}
	return all
}

// stand adds this node's instances of an election to a configuration, with what they track.
func (r *Room) stand(e election.Election, s Snapshot, c *keepalived.Config) (why loop.Reasons) {
	var stands []keepalived.Instance
	rank, ranked := r.rank(e, s)
	for _, v := range e.VIPs {
		inst, reason, err := r.instance(e, v, s)
		if err != nil {
			why = append(why, fmt.Sprintf("no instance for %s: %v", v.Address, err))
			continue
		}
		inst.Priority += vrrp.Priority(e.Scheme.Candidates().Rank(rank))
		why, stands = append(why, reason+ranked), append(stands, inst)
	}
	if len(stands) > 0 {
		r.follows(e, stands, c)
		c.Instances = append(c.Instances, stands...)
	}
	return why
}

// follows adds what an election's instances track, and the group of those that move together.
func (r *Room) follows(e election.Election, stands []keepalived.Instance, c *keepalived.Config) {
	var checks []vrrp.CheckName
	for _, w := range e.Scheme.Checks {
		checks = append(checks, w.Check)
		file := keepalived.Path(election.TrackFile(w.Check, w.Fault))
		c.Tracks = append(c.Tracks, keepalived.Track{Name: w.Check, File: file, Weight: w.Adds})
	}
	if !r.together() || len(stands) == 1 {
		for i := range stands {
			stands[i].Tracks = slices.Concat(checks, r.bonus(e, stands[i].Name, c))
		}
		return
	}
	group := keepalived.SyncGroup{Name: vrrp.InstanceName("VG_" + upper(e))}
	for i := range stands {
		group.Members, stands[i].Grouped = append(group.Members, stands[i].Name), true
	}
	// Its members hold their VIPs together, and what it tracks counts for each.
	group.Tracks = slices.Concat(checks, r.bonus(e, stands[0].Name, c))
	c.Groups = append(c.Groups, group)
}

// together says whether both families of a VIP must be on one node: on OpenStack they are addresses
// of one port.
func (r *Room) together() bool {
	dual := r.plan.Families == plan.DualStack || r.plan.Families == plan.DualStackIPv6
	return dual && r.plan.Platform == spec.OpenStack
}

// choose finds the VIP's interface, or for a while the one that it had.
func (r *Room) choose(e election.Election, v election.VIP, s Snapshot) (addr.Choice, error) {
	return r.chooser.Choose(e, v, election.Observation{At: s.At, Links: s.Links, Agreed: s.Agreed})
}

// instance is the VRRP instance of a VIP, and why it is as it is; the error says why there is none.
func (r *Room) instance(
	e election.Election, v election.VIP, s Snapshot,
) (inst keepalived.Instance, why string, err error) {
	on, err := r.choose(e, v, s)
	if err != nil {
		return inst, "", err
	}
	if inst, err = e.Instance(v, on, e.Scheme.Base); err != nil {
		return inst, "", err
	}
	whom := "multicast as the cluster asks"
	if e.Unicast {
		if whom, err = r.setPeers(e, v, &inst); err != nil {
			return inst, "", err
		}
	}
	why = fmt.Sprintf("%s on %s: %s, %s", v.Address, on.Link, on.Why, whom)
	return inst, why, r.start(e, v, on, s)
}

// setPeers gives an instance its peers, and says which. A node that is not in the list that the
// others have takes no part: it would run an election of its own beside theirs. Where one node may
// be all there is, it advertises to the group.
func (r *Room) setPeers(
	e election.Election, v election.VIP, inst *keepalived.Instance,
) (whom string, err error) {
	peers := e.Members(v, inst.Source)
	if !slices.Contains(peers, inst.Source) {
		return "", fmt.Errorf("%s is not an address of the nodes that the API names (%s)",
			inst.Source, join(peers))
	}
	if !r.plan.Elects(len(peers)) {
		return "", fmt.Errorf("this node is the only one yet")
	}
	peers = slices.DeleteFunc(peers, func(a netip.Addr) bool { return a == inst.Source })
	whom = "unicast with " + join(peers)
	if guests := r.guests(e, v, inst.Source); len(guests) > 0 {
		whom += " and the bootstrap machine " + join(guests)
		peers = append(peers, guests...)
	}
	e.SetPeers(inst, peers)
	switch {
	case len(peers) == 0:
		return "alone", nil
	case inst.Known:
		whom += ", and nobody else is heard"
	}
	return whom, nil
}
