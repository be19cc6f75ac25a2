package status

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/holder"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/installation"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/migration"
	"github.com/onprem-infra/onprem-infra/shared/operator/announcing"
	"github.com/onprem-infra/onprem-infra/shared/operator/judge"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Report is what `status -o json` prints. It is public: fields may be added, and none is removed or
// changes its meaning. What could not be inspected is empty, or left out, and is listed in Unseen.
type Report struct {
	Verdict judge.Verdict `json:"verdict"`
	At      time.Time     `json:"at"`
	Cluster string        `json:"cluster"`
	Timing  string        `json:"timing"` // the profile in force here
	Mode    string        `json:"mode"`   // unicast or multicast

	Node
	VIPs   []VIP   `json:"vips"`
	Daemon *Daemon `json:"keepalived,omitempty"`
	Balanced
	Names []Name `json:"names,omitempty"` // that this host's own name server answers

	Hosts

	Clashes []clash.Finding `json:"clashes"`         // what disturbs the elections
	Reach   string          `json:"hears,omitempty"` // which adverts reach this host, in words
	Unseen  []string        `json:"unseen"`          // what could not be inspected, and why

	failed struct{ balancer, names bool } // they did not answer
}

// Hosts are those that are provisioned.
type Hosts struct {
	// Provisioning is that of a bootstrap machine; nil if this host provisions no hosts.
	Provisioning *installation.Report `json:"provisioning,omitempty"`
	// Workers are the hosts that the cluster provisions; nil if its API was not asked.
	Workers *workers.Report `json:"workers,omitempty"`
}

// Node is this host as a node of the cluster.
type Node struct {
	migration.Changes
	NodeIPs []netip.Addr    `json:"nodeIPs"`
	Reasons []AddressReason `json:"nodeIPWhy,omitempty"` // of each of them
	Remote  bool            `json:"remoteWorker"`        // this node never holds a VIP
	// GateOpen, GateClosed, or empty if the node has none
	Gate       string                 `json:"gate"`
	StaticPods []string               `json:"staticPods,omitempty"`
	Rights     []inspect.MissingRight `json:"rights,omitempty"`
	BGP        *announcing.Report     `json:"bgp,omitempty"` // nil if it announces no VIP
}

// AddressReason is why the node is known by an address.
type AddressReason struct {
	Address netip.Addr `json:"address"`
	Link    string     `json:"link,omitempty"`
	Why     string     `json:"why"`
}

// VIP is one VIP as this host sees it.
type VIP struct {
	inspect.VIP
	Holder  holder.Holder `json:"holder,omitzero"`   // the host that answers for the VIP
	Adverts []Advert      `json:"adverts,omitempty"` // of other hosts that announce it now
	// other hosts that may hold it, as this host knows them
	Peers []Member `json:"peers,omitempty"`
}

// Advert is the last advert of another host.
type Advert struct {
	From       netip.Addr   `json:"from"`
	MAC        string       `json:"mac,omitempty"`
	Priority   uint8        `json:"priority"`
	Version    vrrp.Version `json:"version"`
	IntervalMs int          `json:"intervalMs"`
	AgeMs      int          `json:"ageMs"`
}

// Member is another host that may hold a VIP. Only the holder sends adverts.
type Member struct {
	Address netip.Addr `json:"address"`
	Node    string     `json:"node,omitempty"`
	// of its last advert; absent if none arrived within a minute
	AgeMs *int `json:"ageMs,omitempty"`
	Holds bool `json:"holds"` // it announces the VIP now
}

// Daemon is keepalived as its supervisor reports it.
type Daemon struct {
	Running       bool               `json:"running"`
	Restarts      int                `json:"restarts"`
	Leaving       supervised.Leaving `json:"leaving,omitempty"`
	MonitorSilent bool               `json:"monitorSilent"`
	// why keepalived refuses the last configuration
	Refused string `json:"refused,omitempty"`
	// what the supervisor cannot do, as TASK: ERROR
	Troubles []string `json:"troubles,omitempty"`
}

// Balanced is what is behind this node's HAProxy.
type Balanced struct {
	Balancer []Backend `json:"balancer,omitempty"` // the API servers
	// Ironic are the ready pods of the cluster's Ironic, each at either of its services; nil if
	// HAProxy does not serve them, or does not answer.
	Ironic []Backend `json:"ironic,omitzero"`
}

// Backend is a server behind the balancer.
type Backend struct {
	Of       string         `json:"of,omitempty"` // ironic or virtual-media; else it is of the API
	Name     string         `json:"name"`
	Address  netip.AddrPort `json:"address,omitzero"`
	Status   string         `json:"status"` // as HAProxy names it
	Up       bool           `json:"up"`
	Check    string         `json:"check,omitempty"`
	Sessions int            `json:"sessions"`
}

// Name is one of the cluster's names.
type Name struct {
	Name    string       `json:"name"`
	Want    []netip.Addr `json:"want"`
	Answers []netip.Addr `json:"answers"`
	Right   bool         `json:"right"`
}
