package vip

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/cluster/vip/announce"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan/speaks"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Desired is what should be on the machine, and what the node announces.
type Desired struct {
	Observed  bool // false: nothing could be observed, so nothing is decided
	Unchanged bool // the running configuration stays: nothing better is known
	Config    keepalived.Config
	Absent    []absent.Instance // those that Config has not, and could have
	Memory    nodestate.Memory
	// the Node on which to report that the bootstrap machine is gone; empty for none
	ReportGone string
	Claim      member.Claim
	Listen     []clash.Instance // for which to observe other routers
	Announce   *announce.Seen
	Migration  migrate.Desired
}

// Decide computes what should be on the machine, and why, one reason for each fact. Its only
// state is what it has learnt.
//
// If the API has not named the nodes, and no earlier run has kept them, the running configuration
// stays: an API that is away must not remove the VIPs.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	// To routers a node announces VIPs that are in none of its networks, too.
	next := r.options.Migration.Plan()
	if r.plan.BGP != nil || next.BGP != nil || !s.Remote {
		r.learn(s)
	}
	migration := r.migrate(s)
	d, why := r.configure(s)
	d.Observed, d.Migration = true, migration
	d.Announce = &announce.Seen{Links: s.Links, Agreed: s.Agreed,
		Status: s.Status, Open: r.memory.Open, Rank: r.place.Rank, Label: r.memory.Rack,
		Name: r.findSelf(s), Waits: r.plan.BGP == nil, Apart: r.memory.Apart}
	return d, append(why, migration.Why...)
}

// configure decides about everything but the migration.
func (r *Room) configure(s Snapshot) (Desired, loop.Reasons) {
	d := Desired{Config: election.Config(r.options.Header), Memory: r.memory}
	if s.Remote {
		return d, loop.Reasons{"a remote worker holds no VIP"}
	}
	d.Claim = r.claim(s)
	if s.Bootstrap.OK && r.boot.ShouldReport(s.Bootstrap.Is) {
		d.ReportGone = r.findSelf(s)
	}
	d.Memory, d.Listen = r.memory, r.listen(s)
	if len(r.memory.Nodes) == 0 && !r.first {
		const reason = "the API has not named the nodes yet"
		for _, e := range r.elections() {
			d.lacks(reason, slices.DeleteFunc(e.VIPs, func(v election.VIP) bool {
				return s.runs(v.Instance)
			})...)
		}
		d.Unchanged = true
		return d, loop.Reasons{reason}
	}
	var why loop.Reasons
	for _, e := range r.elections() {
		if len(e.VIPs) == 0 || r.first && e.Kind != vrrp.API {
			continue // nobody is elected, or the candidates are not named yet
		}
		kind := strings.ToUpper(string(e.Kind))
		switch election.Gate(r.candidacy(e)) {
		case election.APINotSeen:
			reason := "this node has not seen the API work yet"
			why = append(why, "no "+kind+" instance: "+reason)
			d.lacks(reason, e.VIPs...)
		case election.RanksTaken:
			reason := fmt.Sprintf("other nodes have all %d ranks%s", speaks.Ranks(r.plan),
				r.place.Dead)
			why = append(why, "no "+kind+" instance: "+reason)
			d.lacks(reason, e.VIPs...)
		default:
			why = append(why, r.addInstances(e, s, &d)...)
		}
	}
	d.Memory = r.memory // with the instances that start now
	return d, why
}

// lacks notes why there are no instances of some VIPs.
func (d *Desired) lacks(why string, vips ...election.VIP) {
	for _, v := range vips {
		d.Absent = append(d.Absent, absent.Instance{Name: v.Instance, Why: why})
	}
}

// candidacy is what this node's eligibility depends on, but for the members.
func (r *Room) candidacy(e election.Election) election.Candidacy {
	return election.Candidacy{Kind: e.Kind, APISeen: r.memory.Open,
		RanksTaken: len(e.Scheme.Ranks) > 0 && r.place.Full}
}

// migrate decides on which plan the VIPs run, before this round's configuration.
func (r *Room) migrate(s Snapshot) migrate.Desired {
	o := migrate.Observation{Now: s.At, Holder: s.Status.IsHolder(),
		BootstrapPeer: r.boot.IsPeer(), Late: s.Late}
	if s.Nodes.OK {
		o.Self = r.findSelf(s)
		o.Nodes = migrate.Members(s.Nodes.Is)
	}
	d := r.options.Migration.Decide(o)
	if d.Changed && !r.changed {
		r.changed, r.notify, r.plan = true, true, r.options.Migration.Plan()
	}
	return d
}
