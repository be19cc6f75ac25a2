package routing

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/number"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/router"
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
	peers   []router.Draft
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
		out.peers = append(out.peers, router.Read(r, e))
	}
	return out
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
			out.Peers = append(out.Peers, p.Values())
		}
		s.BGP.Racks = append(s.BGP.Racks, out)
	}
	return s
}
