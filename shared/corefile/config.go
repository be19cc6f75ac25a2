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
	Header string      // one line of provenance, without the comment sign; empty for none
	Zone   record.Name // the cluster's own domain NAME.DOMAIN
	// answered by CoreDNS itself, all in Zone; empty when the cluster's records are external
	Records   []record.Record
	Clients   []netip.Prefix // may query; empty for everyone
	Hosts     bool           // the names of nodes stand in HostsPath, see RenderHosts
	Announced *Announced     // nil: without multicast DNS
	Knowing   []netip.Addr   // with Hosts or Announced: servers that know all names in Zone
	// in order of preference, at most 15; empty means that nothing is forwarded
	Upstreams  []netip.Addr
	HealthPort uint16 // of /health over HTTP, see Render; 0 for none
	Poll       bool   // CoreDNS polls its file; a parent that signals it needs no poll
}

// Announced is which announcements by multicast DNS are accepted. Only a CoreDNS with the plugin
// mdns reads a Corefile with it (cmd/onprem-coredns).
type Announced struct {
	Cluster  string         // a label; the first word of the announced services' names
	Members  int            // of etcd: its SRV records are answered if so many are known
	On       netip.Addr     // of the local host, on the interface to use; zero for every interface
	Networks []netip.Prefix // that hosts' addresses are in; none for any
}

// Host is one node and its addresses.
type Host struct {
	Short     record.Name // one label; the node is known by it and by Short.Zone
	Addresses []netip.Addr
}
