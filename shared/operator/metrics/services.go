package metrics

import (
	"maps"
	"slices"
	"time"
)

// What a host reports of its CoreDNS, and of what it announces by multicast DNS.
var (
	DNSRunning   = Family{"onprem_dns_running", Gauge, "1 while CoreDNS runs.", nil}
	DNSNodes     = Family{"onprem_dns_nodes", Gauge, "Nodes whose names CoreDNS serves.", nil}
	DNSUpstreams = Family{"onprem_dns_upstreams", Gauge, "Name servers outside the cluster to which CoreDNS forwards.", nil}
	DNSSource    = Family{"onprem_dns_source", Gauge, "1 for the source of the nodes' names: the API, the file of an earlier run, or none yet.", []string{"source"}}
	DNSReloads   = Family{"onprem_dns_reloads_total", Counter, "Reloads of CoreDNS's configuration.", nil}
	DNSStale     = Family{"onprem_dns_stale_seconds", Gauge, "How long CoreDNS has run with an outdated configuration; 0 when it is the current one.", nil}
	Announced    = Family{"onprem_mdns_names", Gauge, "Names that this node announces by multicast DNS, by the state of the announcement.", []string{"state"}}
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
	Source           string // one of those above; empty if nodes are not followed, as on the bootstrap machine
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
// state, also one of no name.
type Announcement map[string]int

// Onto adds the metrics to a page.
func (a Announcement) Onto(p *Page) {
	for _, state := range slices.Sorted(maps.Keys(a)) {
		p.Add(Announced, float64(a[state]), state)
	}
}

// What a control plane node reports of its HAProxy.
var (
	LBRunning  = Family{"onprem_lb_running", Gauge, "1 while HAProxy answers.", nil}
	LBRedirect = Family{"onprem_lb_redirect", Gauge, "1 while connections to the API VIP go through HAProxy, 0 while they go to this node's own API server.", nil}
	LBLost     = Family{"onprem_lb_redirect_lost_total", Counter, "How often the redirect to HAProxy was restored after another program had removed it.", nil}
	LBReloads  = Family{"onprem_lb_reloads_total", Counter, "Reloads of HAProxy's configuration.", nil}
	LBUp       = Family{"onprem_lb_backend_up", Gauge, "1 when HAProxy sends new connections to the API server.", []string{"server", "address"}}
	LBSessions = Family{"onprem_lb_backend_sessions", Gauge, "Open connections to the API server.", []string{"server", "address"}}
)

// Balancer is a node's HAProxy.
type Balancer struct {
	Running, Redirect bool
	Lost, Reloads     uint64
	Servers           []Server // of the API, as HAProxy last reported
}

// Server is an API server behind HAProxy. There are no more than HAProxy has places for.
type Server struct {
	Name, Address string
	Up            bool
	Sessions      int
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
}
