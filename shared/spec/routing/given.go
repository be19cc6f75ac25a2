package routing

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/number"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/router"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/timers"
)

// GivenSettings are settings that were made or changed in another way than by a document. Findings
// have the path of the field in a cluster.yaml, and no line.
func GivenSettings(r *document.Report, s Settings) Draft {
	d := Draft{management: grammar.Set("vipManagement", string(s.Management)),
		At: document.Field("bgp"), Given: !s.BGP.none(), mode: grammar.Set("bgp.mode", s.BGP.Mode),
		timers: timers.Given("bgp", s.BGP.Timers), whole: true,
		depth: grammar.SetNumber("bgp.fabricDepth", s.BGP.FabricDepth, s.BGP.FabricDepth != 0)}
	if s.BGP.ASN != 0 {
		d.asn = grammar.As(r, grammar.Set("bgp.asn", fmt.Sprint(s.BGP.ASN)), number.ASN)
		d.asn.Given = true
	}
	for i, c := range s.BGP.Communities {
		at := fmt.Sprintf("bgp.communities[%d]", i)
		d.communities = append(d.communities, grammar.Set(at, c))
	}
	for i, one := range s.BGP.Racks {
		d.racks = append(d.racks, givenRack(r, fmt.Sprintf("bgp.racks[%d]", i), one))
	}
	return d
}

func givenRack(r *document.Report, at string, s Rack) rack {
	out := rack{at: document.Field(at), name: grammar.Set(at+".name", s.Name),
		timers:  timers.Given(at, s.Timers),
		network: grammar.As(r, grammar.SetValid(at+".network", s.Network), grammar.CIDR)}
	for i, p := range s.Peers {
		out.peers = append(out.peers, router.Given(r, fmt.Sprintf("%s.peers[%d]", at, i), p))
	}
	return out
}
