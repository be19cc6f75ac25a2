//go:build remote

package main

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/judge"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// statusReport is what `status -o json` prints. It is public: fields may be added, and none goes or
// changes its meaning. What could not be seen is left out, or empty, and stands in Unseen.
type statusReport struct {
	Verdict  judge.Verdict `json:"verdict"`
	At       time.Time     `json:"at"`
	Cluster  string        `json:"cluster"`
	Timing   string        `json:"timing"` // the profile in force here
	Mode     string        `json:"mode"`   // unicast or multicast
	NodeIPs  []netip.Addr  `json:"nodeIPs"`
	NodeWhy  []statusWhy   `json:"nodeIPWhy,omitempty"` // of each of them
	Remote   bool          `json:"remoteWorker"`        // this node holds no VIP, ever
	Gate     string        `json:"gate"`                // open, or closed: this node has not seen the API work yet, and does not stand for its VIP; empty where there is none
	VIPs     []statusVIP   `json:"vips"`
	Daemon   *statusDaemon `json:"keepalived,omitempty"`
	Balancer []statusPeer  `json:"balancer,omitempty"` // the API servers behind this node's HAProxy
	Names    []statusName  `json:"names,omitempty"`    // that this host's own DNS server answers

	Clashes []clash.Finding `json:"clashes"`         // who disturbs the elections
	Hears   string          `json:"hears,omitempty"` // what of other routers reaches this host, in words

	StaticPods []string `json:"staticPods,omitempty"` // that run daemons on this bootstrap machine in the place of ours

	Rights []missingRight `json:"rights,omitempty"` // that the API does not give this node, and what it does without

	Unseen []string `json:"unseen"` // what could not be looked at, and why
	silent silence
}

// silence is which of this host's services did not answer when they were asked.
type silence struct{ balancer, names bool }

// statusVIP is one VIP as this host sees it.
type statusVIP struct {
	VIP      netip.Addr        `json:"vip"`
	For      vrrp.Kind         `json:"for"` // api or ingress
	ID       vrrp.ID           `json:"id"`  // the virtual router's
	Instance vrrp.InstanceName `json:"instance"`
	Link     string            `json:"link,omitempty"`
	Here     bool              `json:"here"`              // this host's kernel has the address
	State    supervised.State  `json:"state,omitempty"`   // keepalived's; absent where this host takes no part
	Since    time.Time         `json:"since,omitzero"`    // of the state, by the journal
	Why      string            `json:"why,omitempty"`     // it came about
	Holder   statusHolder      `json:"holder,omitzero"`   // whoever answers for the VIP
	Adverts  []statusAdvert    `json:"adverts,omitempty"` // of other hosts that announce it now
	Peers    []statusMember    `json:"peers,omitempty"`   // who may hold it besides this host, as far as its monitor knows
	Priority int               `json:"priority,omitempty"`
	Parts    []statusPart      `json:"parts,omitempty"` // what the priority is made of; those that count sum up to it

	router clash.Instance // the VIP's virtual router, as this host listens for it
}

// statusHolder is who answers for a VIP by ARP or neighbour discovery.
type statusHolder struct {
	Self    bool       `json:"self"`
	MAC     string     `json:"mac,omitempty"`
	Address netip.Addr `json:"address,omitzero"` // where its adverts were heard
	Nobody  bool       `json:"nobody,omitempty"` // it was asked for, and nobody answered
}

// statusAdvert is the last advert of another host.
type statusAdvert struct {
	From       netip.Addr   `json:"from"`
	MAC        string       `json:"mac,omitempty"`
	Priority   uint8        `json:"priority"`
	Version    vrrp.Version `json:"version"`
	IntervalMs int          `json:"intervalMs"`
	AgeMs      int          `json:"ageMs"`
}

// statusMember is another host that may hold a VIP. Only who holds it announces it: of the others
// nothing is heard.
type statusMember struct {
	Address netip.Addr `json:"address"`
	Node    string     `json:"node,omitempty"`
	AgeMs   *int       `json:"ageMs,omitempty"` // of its last advert; absent when none was heard within a minute
	Holds   bool       `json:"holds"`           // it announces the VIP now
}

// statusWhy is why the node is known by an address.
type statusWhy struct {
	Address netip.Addr `json:"address"`
	Link    string     `json:"link,omitempty"`
	Why     string     `json:"why"`
}

// statusPart is one summand of a priority.
type statusPart struct {
	Name   string    `json:"name"` // base, rank, holder, a check's, or unexplained
	Adds   int       `json:"adds"`
	Counts bool      `json:"counts"` // a check that does not pass adds nothing
	Fault  bool      `json:"fault,omitempty"`
	Since  time.Time `json:"since,omitzero"` // the check's last change
	Why    string    `json:"why,omitempty"`  // what the check saw last
}

// statusDaemon is keepalived as its parent sees it.
type statusDaemon struct {
	Running       bool               `json:"running"`
	Restarts      int                `json:"restarts"`
	Leaving       supervised.Leaving `json:"leaving,omitempty"`
	MonitorSilent bool               `json:"monitorSilent"`
	Refused       string             `json:"refused,omitempty"`  // why keepalived does not take the last configuration
	Troubles      []string           `json:"troubles,omitempty"` // what its parent cannot do, as TASK: ERROR
}

// statusPeer is a server behind the balancer.
type statusPeer struct {
	Name     string         `json:"name"`
	Address  netip.AddrPort `json:"address,omitzero"`
	Status   string         `json:"status"` // as HAProxy says it
	Up       bool           `json:"up"`
	Check    string         `json:"check,omitempty"`
	Sessions int            `json:"sessions"`
}

// statusName is one of the cluster's names.
type statusName struct {
	Name    string       `json:"name"`
	Want    []netip.Addr `json:"want"`
	Answers []netip.Addr `json:"answers"`
	Right   bool         `json:"right"`
}
