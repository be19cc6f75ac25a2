package metrics

import (
	"slices"
	"time"
)

// What a host says of its CoreDNS, and of what it announces by multicast DNS.
var (
	DNSRunning   = Family{"onprem_dns_running", Gauge, "1 while CoreDNS runs.", nil}
	DNSNodes     = Family{"onprem_dns_nodes", Gauge, "Nodes whose names CoreDNS is given.", nil}
	DNSUpstreams = Family{"onprem_dns_upstreams", Gauge, "Name servers beyond the cluster to which CoreDNS forwards.", nil}
	DNSSource    = Family{"onprem_dns_source", Gauge, "1 for who has named the nodes: the API, the memory of an earlier time, or nobody yet.", []string{"source"}}
	DNSReloads   = Family{"onprem_dns_reloads_total", Counter, "How often CoreDNS was told of another configuration.", nil}
	DNSStale     = Family{"onprem_dns_stale_seconds", Gauge, "For how long CoreDNS has answered by a configuration that is not the last one; 0 when it has that.", nil}
	Announced    = Family{"onprem_mdns_names", Gauge, "Names that are announced by multicast DNS, by how it stands with them.", []string{"state"}}
)

func ofNames() []Family {
	return []Family{DNSRunning, DNSNodes, DNSUpstreams, DNSSource, DNSReloads, DNSStale, Announced}
}

// The sources of the nodes' names.
const (
	FromAPI    = "api"
	FromMemory = "memory"
	FromNone   = "nobody"
)

// Names is a host's CoreDNS.
type Names struct {
	Running          bool
	Source           string // one of those above; empty where nobody is asked for nodes, as on the bootstrap machine
	Nodes, Upstreams int
	Reloads          uint64
	Stale            time.Duration
}

// Onto writes it down.
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

// Announcement is what a node announces by multicast DNS: how many names there are in each state.
// Every state is said, also that of none.
type Announcement map[string]int

// Onto writes it down.
func (a Announcement) Onto(p *Page) {
	states := make([]string, 0, len(a))
	for state := range a {
		states = append(states, state)
	}
	slices.Sort(states)
	for _, state := range states {
		p.Add(Announced, float64(a[state]), state)
	}
}
