package metrics

import (
	"maps"
	"slices"
	"time"
)

// What a host reports of its CoreDNS, and of what it announces by multicast DNS.
var (
	DNSRunning   = gauge("onprem_dns_running", "1 while CoreDNS runs.")
	DNSNodes     = gauge("onprem_dns_nodes", "Nodes whose names CoreDNS serves.")
	DNSUpstreams = gauge("onprem_dns_upstreams",
		"Name servers outside the cluster to which CoreDNS forwards.")
	DNSSource = gauge("onprem_dns_source",
		"1 for the source of the nodes' names: the API, the file of an earlier run, or none yet.",
		"source")
	DNSReloads = counter("onprem_dns_reloads_total", "Reloads of CoreDNS's configuration.")
	DNSStale   = gauge("onprem_dns_stale_seconds",
		"How long CoreDNS has run with an outdated configuration; 0 when it is the current one.")
	Announced = gauge("onprem_mdns_names",
		"Names that this node announces by multicast DNS, by the state of the announcement.",
		"state")
)

// The sources of the nodes' names.
const (
	FromAPI    = "api"
	FromMemory = "memory"
	FromNone   = "none"
)

// Names is a host's CoreDNS.
type Names struct {
	Running          bool
	Source           string // one of those above; empty if nodes are not followed
	Nodes, Upstreams int
	Reloads          uint64
	Stale            time.Duration
}

// Onto adds the metrics to a page.
func (n Names) Onto(p *Page) {
	p.Flag(DNSRunning, n.Running)
	p.Add(DNSUpstreams, float64(n.Upstreams))
	if n.Source != "" {
		p.Add(DNSNodes, float64(n.Nodes))
		for _, source := range []string{FromAPI, FromMemory, FromNone} {
			p.Flag(DNSSource, n.Source == source, source)
		}
	}
	p.Add(DNSReloads, float64(n.Reloads))
	p.Add(DNSStale, n.Stale.Seconds())
}

// Announcement counts the names that a node announces by multicast DNS, by state. It has every
// state, also with a count of 0.
type Announcement map[string]int

// Onto adds the metrics to a page.
func (a Announcement) Onto(p *Page) {
	for _, state := range slices.Sorted(maps.Keys(a)) {
		p.Add(Announced, float64(a[state]), state)
	}
}

// What a control plane node reports of its HAProxy.
var (
	LBRunning  = gauge("onprem_lb_running", "1 while HAProxy answers.")
	LBRedirect = gauge("onprem_lb_redirect",
		"1 while connections to the API VIP go through HAProxy, 0 while they go to this node's "+
			"own API server.")
	LBLost = counter("onprem_lb_redirect_lost_total",
		"How often the redirect to HAProxy was restored after another program had removed it.")
	LBReloads = counter("onprem_lb_reloads_total", "Reloads of HAProxy's configuration.")
	LBUp      = gauge("onprem_lb_backend_up",
		"1 when HAProxy sends new connections to the API server.", "server", "address")
	LBSessions = gauge("onprem_lb_backend_sessions", "Open connections to the API server.",
		"server", "address")
	// Only where the balancer serves the cluster's Ironic.
	LBIronicRedirect = gauge("onprem_lb_ironic_redirect",
		"1 while connections to Ironic's ports of the API VIP go through HAProxy.")
	LBIronicUp = gauge("onprem_lb_ironic_up",
		"1 when HAProxy sends new connections to the pod of Ironic.", "backend", "server",
		"address")
	LBIronicSessions = gauge("onprem_lb_ironic_sessions", "Open connections to the pod of Ironic.",
		"backend", "server", "address")
)

// Balancer is a node's HAProxy.
type Balancer struct {
	Running, Redirect bool
	Lost, Reloads     uint64
	Servers           []Server // of the API, as HAProxy last reported
	IronicRedirect    *bool    // nil if it does not serve Ironic
	Ironic            []IronicServer
}

// Server is an API server behind HAProxy. There are no more than HAProxy has places for.
type Server struct {
	Name, Address string
	Up            bool
	Sessions      int
}

// IronicServer is a port of a pod of Ironic behind HAProxy.
type IronicServer struct {
	Backend string // HAProxy's
	Server
}

// Onto adds the metrics to a page.
func (b Balancer) Onto(p *Page) {
	p.Flag(LBRunning, b.Running)
	p.Flag(LBRedirect, b.Redirect)
	p.Add(LBLost, float64(b.Lost))
	p.Add(LBReloads, float64(b.Reloads))
	for _, s := range b.Servers {
		p.Flag(LBUp, s.Up, s.Name, s.Address)
		p.Add(LBSessions, float64(s.Sessions), s.Name, s.Address)
	}
	if b.IronicRedirect != nil {
		p.Flag(LBIronicRedirect, *b.IronicRedirect)
	}
	for _, s := range b.Ironic {
		p.Flag(LBIronicUp, s.Up, s.Backend, s.Name, s.Address)
		p.Add(LBIronicSessions, float64(s.Sessions), s.Backend, s.Name, s.Address)
	}
}
