// Package router reads one router of a rack, as a cluster.yaml has it, and holds it to its rules.
package router

import (
	"fmt"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/number"
)

// external stands for a router's ASN that may be any but the hosts' own.
const external = "external"

// Peer is a router.
type Peer struct {
	Address     netip.Addr // or
	Interface   string     // of the host, at whose other end the router is
	ASN         bgp.ASN    // 0: any but the hosts' own
	Source      Source     // the zero value leaves it to the kernel
	Hops        int        // routers between, plus one; 0 for 1
	TTLSecurity bool
}

// Draft is a router with its places.
type Draft struct {
	At       document.Place
	Address  document.Scalar[netip.Addr]
	Link     document.Scalar[string]
	ASN      document.Scalar[string]
	Number   bgp.ASN
	Source   document.Scalar[Source]
	Password document.Scalar[secret.Text] // of an install-config alone
	Hops     document.Scalar[int]
	TTL      document.Scalar[bool]
}

// Read reads a router.
func Read(r *document.Reader, v document.Value) Draft {
	o := r.Map(v)
	r.Known(o, "address", "interface", "asn", "source", "hops", "ttlSecurity")
	p := Draft{At: o.At, Link: r.Text(o.Get("interface")),
		Address: grammar.As(&r.Report, r.Text(o.Get("address")), grammar.Addr),
		Source:  grammar.As(&r.Report, r.Text(o.Get("source")), source),
		ASN:     number.ReadASN(r, o.Get("asn")), Hops: r.Number(o.Get("hops")),
		TTL: grammar.Bool(r, o.Get("ttlSecurity"))}
	if p.ASN.OK && p.ASN.Value != external {
		p.Number = grammar.As(&r.Report, p.ASN, number.ASN).Value
	}
	return p
}

// Given is a router that was made or changed in another way than by a document.
func Given(r *document.Report, at string, p Peer) Draft {
	d := Draft{At: document.Field(at), Link: grammar.Set(at+".interface", p.Interface),
		Address: grammar.As(r, grammar.SetValid(at+".address", p.Address), grammar.Addr),
		Source:  grammar.As(r, grammar.SetValid(at+".source", p.Source), source),
		ASN:     grammar.Set(at+".asn", external), Number: p.ASN,
		Hops: grammar.SetNumber(at+".hops", p.Hops, p.Hops != 0),
		TTL:  document.Given(p.TTLSecurity, document.Field(at+".ttlSecurity"))}
	if p.ASN != 0 {
		d.ASN = grammar.Set(at+".asn", fmt.Sprint(p.ASN))
		grammar.As(r, d.ASN, number.ASN)
	}
	return d
}

// Values are the settings without their places.
func (d Draft) Values() Peer {
	return Peer{Address: d.Address.Value, Interface: d.Link.Value, ASN: d.Number,
		Source: d.Source.Value, Hops: d.Hops.Value, TTLSecurity: d.TTL.Value}
}
