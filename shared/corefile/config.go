// Package corefile writes CoreDNS's Corefile. The same renderer serves the bootstrap machine and the nodes of a cluster.
package corefile

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/record"
)

// Config is one whole Corefile.
type Config struct {
	Header     string          // one line of provenance, without the comment sign; empty for none
	Zone       record.Name     // the cluster's own domain NAME.DOMAIN
	Records    []record.Record // answered by CoreDNS itself, all in Zone; empty when the cluster's records are external
	Upstreams  []netip.Addr    // in order of preference, at most 15; empty means that nothing is forwarded
	HealthPort uint16          // 0: nobody asks for /health over HTTP, see Render
	Poll       bool            // CoreDNS looks by itself whether its file has changed; a parent that signals it does not need that
}
