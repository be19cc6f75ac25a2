package routing

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/number"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/timers"
)

// Draft is the settings of a document, each value with its place.
type Draft struct {
	management document.Scalar[string]

	At    document.Place // of the section for BGP
	Given bool

	asn         document.Scalar[bgp.ASN]
	mode        document.Scalar[string]
	timers      timers.Draft
	depth       document.Scalar[int]
	communities []document.Scalar[string]
	racks       []rack
	// installConfig is set for a document of the installer, which has other rules for VIPs.
	installConfig bool
	vipNetworks   []netip.Prefix // machine networks of it that have no hosts
	whole         bool           // all racks could be read
}

// rack is a rack with its places.
type rack struct {
	at      document.Place
	name    document.Scalar[string]
	network document.Scalar[netip.Prefix]
	timers  timers.Draft
	peers   []peer
}

// peer is a router with its places.
type peer struct {
	at       document.Place
	address  document.Scalar[netip.Addr]
	link     document.Scalar[string]
	asn      document.Scalar[string]
	number   bgp.ASN
	source   document.Scalar[netip.Addr]
	password document.Scalar[secret.Text] // of an install-config alone
	hops     document.Scalar[int]
	ttl      document.Scalar[bool]
}

// Read reads both fields of a cluster.yaml, which is strict.
func Read(r *document.Reader, spec document.Map) Draft {
	o := r.Map(spec.Get("bgp"))
	r.Known(o, append([]string{"asn", "mode", "fabricDepth", "communities", "racks"},
		timers.Fields()...)...)
	d := Draft{management: r.Text(spec.Get("vipManagement")), At: o.At,
		Given: o.Given || o.Lost && spec.Given, mode: r.Text(o.Get("mode")),
		timers: timers.Read(r, o), depth: r.Number(o.Get("fabricDepth"))}
	if text := number.ReadASN(r, o.Get("asn")); text.Given {
		d.asn = grammar.As(&r.Report, text, number.ASN)
		d.asn.Given = true
	}
	communities, _ := r.List(o.Get("communities"))
	for _, e := range communities {
		d.communities = append(d.communities, r.Text(e))
	}
	racks, ok := r.List(o.Get("racks"))
	d.whole = ok
	for _, e := range racks {
		d.racks = append(d.racks, readRack(r, e))
	}
	return d
}

func readRack(r *document.Reader, v document.Value) rack {
	o := r.Map(v)
	r.Known(o, append([]string{"name", "network", "peers"}, timers.Fields()...)...)
	out := rack{at: o.At, name: r.Text(o.Get("name")), timers: timers.Read(r, o),
		network: grammar.As(&r.Report, r.Text(o.Get("network")), grammar.CIDR)}
	peers, _ := r.List(o.Get("peers"))
	for _, e := range peers {
		out.peers = append(out.peers, readPeer(r, e))
	}
	return out
}

func readPeer(r *document.Reader, v document.Value) peer {
	o := r.Map(v)
	r.Known(o, "address", "interface", "asn", "source", "hops", "ttlSecurity")
	p := peer{at: o.At, link: r.Text(o.Get("interface")),
		address: grammar.As(&r.Report, r.Text(o.Get("address")), grammar.Addr),
		source:  grammar.As(&r.Report, r.Text(o.Get("source")), grammar.Addr),
		asn:     number.ReadASN(r, o.Get("asn")), hops: r.Number(o.Get("hops")),
		ttl: grammar.Bool(r, o.Get("ttlSecurity"))}
	if p.asn.OK && p.asn.Value != external {
		p.number = grammar.As(&r.Report, p.asn, number.ASN).Value
	}
	return p
}

// Values are the settings without their places.
func (d Draft) Values() Settings {
	s := Settings{Management: Management(d.management.Value), Passwords: d.passwords()}
	if !d.Given {
		return s
	}
	s.BGP = BGPSettings{ASN: d.asn.Value, Mode: d.mode.Value, Timers: d.timers.Values(),
		FabricDepth: d.depth.Value}
	for _, c := range d.communities {
		s.BGP.Communities = append(s.BGP.Communities, c.Value)
	}
	for _, r := range d.racks {
		out := Rack{Name: r.name.Value, Network: r.network.Value, Timers: r.timers.Values()}
		for _, p := range r.peers {
			out.Peers = append(out.Peers, Peer{Address: p.address.Value, Interface: p.link.Value,
				ASN: p.number, Source: p.source.Value, Hops: p.hops.Value,
				TTLSecurity: p.ttl.Value})
		}
		s.BGP.Racks = append(s.BGP.Racks, out)
	}
	return s
}
