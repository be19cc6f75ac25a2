package routing

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/timers"
)

// GivenSettings are settings that were made or changed in another way than by a document. Findings
// have the path of the field in a cluster.yaml, and no line.
func GivenSettings(r *document.Report, s Settings) Draft {
	d := Draft{management: given("vipManagement", string(s.Management)),
		At: document.Field("bgp"), Given: !s.BGP.none(), mode: given("bgp.mode", s.BGP.Mode),
		timers: timers.Given("bgp", s.BGP.Timers), whole: true,
		depth: number("bgp.fabricDepth", s.BGP.FabricDepth)}
	if s.BGP.ASN != 0 {
		d.asn = grammar.As(r, given("bgp.asn", fmt.Sprint(s.BGP.ASN)), parseASN)
		d.asn.Given = true
	}
	for i, c := range s.BGP.Communities {
		d.communities = append(d.communities, given(fmt.Sprintf("bgp.communities[%d]", i), c))
	}
	for i, one := range s.BGP.Racks {
		d.racks = append(d.racks, givenRack(r, fmt.Sprintf("bgp.racks[%d]", i), one))
	}
	return d
}

func givenRack(r *document.Report, at string, s Rack) rack {
	out := rack{at: document.Field(at), name: given(at+".name", s.Name),
		timers:  timers.Given(at, s.Timers),
		network: grammar.As(r, valid(at+".network", s.Network), grammar.CIDR)}
	for i, p := range s.Peers {
		at := fmt.Sprintf("%s.peers[%d]", at, i)
		one := peer{at: document.Field(at), link: given(at+".interface", p.Interface),
			address: grammar.As(r, valid(at+".address", p.Address), grammar.Addr),
			source:  grammar.As(r, valid(at+".source", p.Source), grammar.Addr),
			asn:     given(at+".asn", external), number: p.ASN, hops: number(at+".hops", p.Hops),
			ttl: document.Scalar[bool]{Value: p.TTLSecurity}}
		if p.ASN != 0 {
			one.asn = given(at+".asn", fmt.Sprint(p.ASN))
			grammar.As(r, one.asn, parseASN)
		}
		out.peers = append(out.peers, one)
	}
	return out
}

// given is a text that was set unless it is empty.
func given(field, text string) document.Scalar[string] {
	return document.Scalar[string]{Value: text, At: document.Field(field), Given: text != "",
		OK: text != ""}
}

func number(field string, n int) document.Scalar[int] {
	return document.Scalar[int]{Value: n, At: document.Field(field), Given: n != 0, OK: n != 0}
}

func valid(field string, v interface {
	IsValid() bool
	String() string
}) document.Scalar[string] {
	if !v.IsValid() {
		return given(field, "")
	}
	return given(field, v.String())
}
