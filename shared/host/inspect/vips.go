package inspect

import (
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// The eligibility gate of a control plane node for the API VIP.
const (
	GateOpen   = "open"
	GateClosed = "closed" // it has not seen the API work yet, and is no candidate
)

// VIP is one VIP, and what this host is in its election.
type VIP struct {
	Address  netip.Addr        `json:"vip"`
	For      vrrp.Kind         `json:"for"`
	ID       vrrp.ID           `json:"id"`
	Instance vrrp.InstanceName `json:"instance"`
	Link     string            `json:"link,omitempty"`
	// Here means that this host's kernel has the address. On a host that announces VIPs to
	// routers, from its loopback interface, an address of that interface alone does not count.
	Here bool `json:"here"`
	// keepalived's; absent if this host is no candidate
	State    supervised.State `json:"state,omitempty"`
	Since    time.Time        `json:"since,omitzero"` // of the state, by the journal
	Why      string           `json:"why,omitempty"`  // of the state
	Priority int              `json:"priority,omitempty"`
	// Absent is why this host is no candidate; empty if it is one, or that is not known
	Absent string `json:"absent,omitempty"`
	// Parts are the summands of the priority; those that count sum up to it.
	Parts []Part `json:"parts,omitempty"`

	Router clash.Instance `json:"-"` // the VIP's virtual router, as this host listens for it
}

// Part is one summand of a priority.
type Part struct {
	Name   string    `json:"name"` // base, rank, holder, a check's, or unexplained
	Adds   int       `json:"adds"`
	Counts bool      `json:"counts"` // a check that does not pass adds nothing
	Fault  bool      `json:"fault,omitempty"`
	Since  time.Time `json:"since,omitzero"` // the check's last change
	Why    string    `json:"why,omitempty"`  // the check's last result
}

// Elected are the VIPs that are known to concern a host before it asks others: all but the
// provisioning address, if keepalived has no instance of it. That address is on a network of
// which the host may know nothing.
func Elected(all []VIP) []VIP {
	return slices.DeleteFunc(all,
		func(v VIP) bool { return v.For == vrrp.Provisioning && v.State == "" })
}

// VIPs are the cluster's VIPs, with what this host is in the election of each. The last journal
// entry of an instance explains its state.
func (i *Inspector) VIPs(
	o election.Observation, status supervised.Status, entries []journal.Entry,
) (out []VIP) {
	for e, virtual := range election.All(i.Plan) {
		v := i.vip(e, virtual, o, status)
		for _, entry := range entries {
			if entry.Clash != "" || entry.Instance != string(v.Instance) {
				continue
			}
			v.Since, v.Why = time.Time{}, ""
			if entry.State == v.State {
				v.Since, v.Why = entry.At, entry.Why
			}
		}
		out = append(out, v)
	}
	return out
}

// vip is what this host is in the election of one VIP.
func (i *Inspector) vip(
	e election.Election, v election.VIP, o election.Observation, status supervised.Status,
) VIP {
	on, _ := e.Choose(v, o) // without a choice there is no link
	out := VIP{Address: v.Address, For: e.Kind, ID: e.ID, Instance: v.Instance, Link: on.Link}
	out.Router = e.ClashInstance(v, on, nil)
	here := o.Links.LinkOf
	if _, ok := i.Announces(); ok {
		here = o.Links.HolderOf
	}
	out.Here = here(v.Address) != ""
	if e.Kind == vrrp.Provisioning { // adverts are on one network, and the address on another
		out.Link, out.Router.Near = o.Links.LinkOf(v.Address), false
	}
	if now, ok := status.Instances[string(v.Instance)]; ok {
		out.State, out.Priority = now.State, now.Priority
		out.Parts = i.parts(e, o, out, status)
	} else {
		out.Absent = i.absence(v.Instance, e.Kind)
	}
	return out
}

// absence is why this host has no instance: by its monitor, or by what the host is.
func (i *Inspector) absence(name vrrp.InstanceName, kind vrrp.Kind) string {
	all, _ := i.Files.Absent() // they are for people, and status does without
	if why := absent.Why(all, name); why != "" || kind != vrrp.Provisioning {
		return why
	}
	switch i.Files.Role() {
	case role.Bootstrap:
		return "the bootstrap machine has it without an election, while it installs hosts"
	case role.Worker, role.Arbiter:
		return "the control plane nodes share it"
	}
	return ""
}

// parts are the summands of a priority, from the files that keepalived reads. The rest is a part of
// its own, so that the parts that count always sum up to the priority.
func (i *Inspector) parts(
	e election.Election, o election.Observation, v VIP, status supervised.Status,
) (out []Part) {
	add := func(name string, adds int, counts bool) {
		if adds != 0 {
			out = append(out, Part{Name: name, Adds: adds, Counts: counts})
		}
	}
	if there, err := i.Files.Exists(nodestate.Path); err == nil && !there && e.Bootstrap != 0 {
		add("bootstrap", int(e.Bootstrap), true)
	} else {
		add("base", int(e.Scheme.Base), true)
		add("rank", i.rank(e, o), true)
		if held := i.holderTrack(v.Instance); held < 0 {
			add("holder", -e.Scheme.Holder, true)
		} else {
			add("holder", e.Scheme.Holder, held == 1)
		}
		out = append(out, i.checks(e.Scheme.Checks, status)...)
	}
	rest := v.Priority
	for _, p := range out {
		if p.Counts {
			rest -= p.Adds
		}
	}
	add("unexplained", rest, true)
	return out
}

// checks are the parts of a priority that health checks add.
func (i *Inspector) checks(weights []vrrp.Weight, status supervised.Status) (out []Part) {
	results, _ := i.Files.Results() // they are for people, and status does without
	for _, w := range weights {
		p := Part{Name: string(w.Check), Adds: w.Adds, Fault: w.Fault}
		p.Counts = i.Files.Tracked(w.Check, w.Fault) && !status.MonitorStale
		if info, err := os.Stat(i.Files.Path(election.TrackFile(w.Check, w.Fault))); err == nil {
			p.Since = info.ModTime().UTC()
		}
		for _, r := range results {
			if r.Check == w.Check {
				p.Why = r.Why
			}
		}
		out = append(out, p)
	}
	return out
}

// rank is what this node's rank adds.
func (i *Inspector) rank(e election.Election, o election.Observation) int {
	if e.Kind == vrrp.Ingress {
		choose := func(v election.VIP) (addr.Choice, error) { return e.Choose(v, o) }
		if rank, ok := e.AddressRank(choose); ok {
			return e.Scheme.Candidates().Rank(rank)
		}
		return 0
	}
	memory, _, _ := i.Files.Memory() // its error is reported with the gate
	if rank, ok := notice.ReadRank(memory.Rank, len(e.Scheme.Ranks)); ok {
		return e.Scheme.Candidates().Rank(rank)
	}
	return 0
}

// holderTrack is the supervisor's tracked file of an instance's holder bonus: -1, 0 or 1.
func (i *Inspector) holderTrack(instance vrrp.InstanceName) int {
	text, _ := i.Files.Optional(supervised.RunDir, supervised.HolderTrack(string(instance)))
	return map[string]int{"1": 1, "-1": -1}[strings.TrimSpace(string(text))]
}

// Gate is the state of this node's eligibility gate for the API VIP; empty if it has none.
func (i *Inspector) Gate(links addr.Snapshot) (string, error) {
	memory, there, err := i.Files.Memory()
	switch {
	case err != nil || !there:
		return "", err
	case memory.Open:
		return GateOpen, nil
	case member.Self(member.ControlPlane(memory.Nodes), links, i.Plan.VIPs.All()) != "":
		return GateClosed, nil
	}
	return "", nil
}
