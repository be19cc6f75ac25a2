package vip

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan/sharing"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// addInstances adds this node's instances of an election to a configuration, with what they track.
func (r *Room) addInstances(e election.Election, s Snapshot, d *Desired) (why loop.Reasons) {
	var added []keepalived.Instance
	rank, ranked := r.rank(e, s)
	for _, v := range e.VIPs {
		inst, reason, err := r.instance(e, v, s)
		if err != nil {
			why = append(why, fmt.Sprintf("no instance for %s: %v", v.Address, err))
			d.lacks(err.Error(), v)
			continue
		}
		inst.Priority += vrrp.Priority(e.Scheme.Candidates().Rank(rank))
		why, added = append(why, reason+ranked), append(added, inst)
	}
	e.AddInstances(&d.Config, added)
	return why
}

// choose finds the VIP's interface, or for a while the one that it had.
func (r *Room) choose(e election.Election, v election.VIP, s Snapshot) (addr.Choice, error) {
	return r.chooser.Choose(e, v, election.Observation{At: s.At, Links: s.Links, Agreed: s.Agreed})
}

// instance is the VRRP instance of a VIP, and why it is as it is; the error is why there is none.
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
	at := on.Link
	if e.Kind == vrrp.Provisioning {
		if at, err = r.setDevice(v, &inst, s); err != nil {
			return inst, "", err
		}
		at += ", adverts on " + on.Link
	}
	mode := "multicast as the cluster asks"
	if e.Unicast {
		if mode, err = r.setPeers(e, v, &inst); err != nil {
			return inst, "", err
		}
	}
	why = fmt.Sprintf("%s on %s: %s, %s", v.Address, at, on.Why, mode)
	return inst, why, r.start(e, v, on, s)
}

// setDevice puts the provisioning address on the node's card of that network, and names the card.
// Another machine that has the address keeps it.
func (r *Room) setDevice(
	v election.VIP, inst *keepalived.Instance, s Snapshot,
) (name string, err error) {
	card, err := sharing.Card(r.plan.Provisioning, s.Cards)
	if err != nil {
		return "", err
	}
	waits := s.Status.Instances[string(v.Instance)].State == supervised.Backup
	if err := s.Occupant.Bars(waits, s.runs(v.Instance)); err != nil {
		if lack := sharing.Lacks(r.plan.Provisioning, card); !s.Occupant.Known && lack.Seen != "" {
			err = errors.New(lack.Seen + ": " + lack.Do) // so that no question can be asked there
		}
		return "", err
	}
	return card.Name, v.SetDevice(inst, card.Name)
}

// setPeers gives an instance its peers, and names them. If the cluster may have one node only, it
// advertises to the group.
func (r *Room) setPeers(
	e election.Election, v election.VIP, inst *keepalived.Instance,
) (mode string, err error) {
	peers := e.Members(v, inst.Source)
	c := r.candidacy(e)
	c.Unicast, c.Named = true, slices.Contains(peers, inst.Source)
	c.Elects = r.plan.Elects(len(peers))
	switch election.Gate(c) {
	case election.NotNamed:
		return "", fmt.Errorf("%s is not an address of the nodes that the API names (%s)",
			inst.Source, election.Join(peers))
	case election.TooFew:
		return "", errors.New("this node is the only one yet")
	}
	peers = slices.DeleteFunc(peers, func(a netip.Addr) bool { return a == inst.Source })
	mode = "unicast with " + election.Join(peers)
	if boot := r.bootstrapPeers(e, v, inst.Source); len(boot) > 0 {
		mode += " and the bootstrap machine " + election.Join(boot)
		peers = append(peers, boot...)
	}
	e.SetPeers(inst, peers)
	switch {
	case len(peers) == 0:
		return "alone", nil
	case inst.Known:
		mode += "; adverts of other routers are dropped"
	}
	return mode, nil
}

// rank is this node's rank in an election. For the API and DNS VIPs it is claimed. For the ingress
// VIP, which may have more nodes than ranks, it follows from an address, and counts for all VIPs of
// the election.
func (r *Room) rank(e election.Election, s Snapshot) (rank int, why string) {
	switch {
	case len(e.Scheme.Ranks) == 0:
		return member.NoRank, ""
	case e.Kind != vrrp.Ingress && r.place.Rank == member.NoRank:
		return member.NoRank, ", without a rank yet"
	case e.Kind != vrrp.Ingress:
		return r.place.Rank, fmt.Sprintf(", rank %d", r.place.Rank)
	}
	choose := func(v election.VIP) (addr.Choice, error) { return r.choose(e, v, s) }
	if rank, ok := e.AddressRank(choose); ok {
		return rank, fmt.Sprintf(", rank %d by its address", rank)
	}
	return member.NoRank, ""
}
