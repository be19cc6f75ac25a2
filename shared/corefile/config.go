// Package corefile writes CoreDNS's Corefile. The same renderer serves the bootstrap machine and
// the nodes of a cluster.
package corefile

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/record"
)

// HostsPath is where CoreDNS reads the nodes' names, on the host and in the container.
const HostsPath = "/etc/coredns/hosts"

// MaxForward is how many servers CoreDNS forwards to; it refuses a longer list.
const MaxForward = 15

// Config is one whole Corefile.
type Config struct {
	Header     string          // one line of provenance, without the comment sign; empty for none
	Zone       record.Name     // the cluster's own domain NAME.DOMAIN
	Records    []record.Record // answered by CoreDNS itself, all in Zone; empty when the cluster's records are external
	Clients    []netip.Prefix  // whose hosts are answered; empty for everybody
	Hosts      bool            // the names of nodes stand in HostsPath, see RenderHosts
	Announced  *Announced      // nil: nobody is answered for by what it announces of itself
	Knowing    []netip.Addr    // with Hosts: who knows the names in Zone that HostsPath lacks, asked for those before Upstreams
	Upstreams  []netip.Addr    // in order of preference, at most 15; empty means that nothing is forwarded
	HealthPort uint16          // 0: nobody asks for /health over HTTP, see Render
	Poll       bool            // CoreDNS looks by itself whether its file has changed; a parent that signals it does not need that
}

// Announced says whose announcements by multicast DNS are believed. Only a CoreDNS with the plugin
// mdns reads a Corefile with it (cmd/onprem-coredns).
type Announced struct {
	Cluster  string         // a label; the first word of the announced services' names
	Members  int            // of etcd: its list is answered when so many are known; 0 for no minimum
	On       netip.Addr     // of this machine: announcements are heard on the interface that has it; the zero value for every interface
	Networks []netip.Prefix // that hosts' addresses are in; none for any
}

// Host is one node and its addresses.
type Host struct {
	Short     record.Name // one label; the node is known by it and by Short.Zone
	Addresses []netip.Addr
}
