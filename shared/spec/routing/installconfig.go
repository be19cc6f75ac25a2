package routing

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/assign"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/number"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/router"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/session"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/timers"
)

// mostHops is the distance of a router that may be anywhere.
const mostHops = 254

// ReadInstallConfig reads the baremetal section of an install-config, whose bgpVIPConfig has the
// routers of all hosts, and whose hosts may have bgpPeers of their own in place of those. Hosts of
// a machine network are a rack, and so is each host that has its own.
//
// source: OpenShift's enhancement "bgp-vip-management" (a developers' preview). A rack whose
// routers do not mention BFD has BFD here, and has none there.
func ReadInstallConfig(r *document.Reader, section document.Map, a network.Addresses) Draft {
	config := r.Map(r.Field(section, "bgpVIPConfig"))
	if !config.Given {
		for _, one := range readInstallHosts(r, r.Field(section, "hosts")) {
			r.Errorf(one.at, "has no effect without bgpVIPConfig, which has the hosts' own "+
				"number: add it beside hosts, or remove bgpPeers")
		}
		return Draft{}
	}
	d := Draft{At: config.At, Given: true, whole: true, installConfig: true,
		management: document.Given(string(BGP), config.At)}
	if text := number.ReadASN(r, r.Field(config, "localASN")); text.Given {
		d.asn = grammar.As(&r.Report, text, number.ASN)
		d.asn.Given = true
	}
	communities, _ := r.List(r.Field(config, "communities"))
	for _, e := range communities {
		d.communities = append(d.communities, r.Text(e))
	}
	peers, times := readInstallPeers(r, r.Field(config, "peers"))
	named := readInstallHosts(r, r.Field(section, "hosts"))
	routers := addresses(peers)
	for _, one := range named {
		routers = append(routers, addresses(one.peers)...)
	}
	found := assign.Of(network.Prefixes(a.Machines),
		network.Addrs(slices.Concat(a.API.All, a.Ingress.All)), routers)
	for i, of := range found.Networks {
		one := rack{at: config.At, timers: times, network: placed(a.Machines, of[0])}
		for _, p := range found.Near(i, addresses(peers)) {
			one.peers = append(one.peers, peers[p])
		}
		d.racks = append(d.racks, one)
	}
	for _, n := range found.Unpaired {
		r.Warnf(placed(a.Machines, n).At, "%s has routers, but its family has not as many machine "+
			"networks of hosts as the first one's, so that every host opens sessions to them: "+
			"list as many in the order of the racks, or write a cluster.yaml with bgp.racks", n)
	}
	d.racks, d.vipNetworks = append(d.racks, named...), found.VIPs
	return d
}

// readInstallHosts reads the hosts that have routers of their own, each a rack of its name.
func readInstallHosts(r *document.Reader, v document.Value) (named []rack) {
	hosts, _ := r.List(v)
	for _, e := range hosts {
		host := r.Map(e)
		if own := r.Field(host, "bgpPeers"); own.Node != nil {
			peers, times := readInstallPeers(r, own)
			named = append(named, rack{at: own.At, name: r.Text(r.Field(host, "name")),
				peers: peers, timers: times})
		}
	}
	return named
}

// placed is a machine network with its place.
func placed(l network.List[network.Network], n netip.Prefix) document.Scalar[netip.Prefix] {
	i := slices.IndexFunc(l.All, func(m network.Network) bool { return m.Prefix == n })
	return document.Given(n, l.All[i].At)
}

// addresses are those of routers; one that could not be read has the zero value.
func addresses(peers []router.Draft) (all []netip.Addr) {
	for _, p := range peers {
		all = append(all, p.Address.Value)
	}
	return all
}

// OfHosts are machine networks without those that have virtual IPs and no hosts.
func (d Draft) OfHosts(machines network.List[network.Network]) network.List[network.Network] {
	machines.All = slices.DeleteFunc(slices.Clone(machines.All), func(m network.Network) bool {
		return slices.Contains(d.vipNetworks, m.Prefix)
	})
	return machines
}

// readInstallPeers reads routers. Each may have timers of its own there; a rack has one set here.
func readInstallPeers(r *document.Reader, v document.Value) (peers []router.Draft, t timers.Draft) {
	list, _ := r.List(v)
	var all []session.Session
	for _, e := range list {
		o := r.Map(e)
		p := router.Draft{At: o.At, ASN: number.ReadASN(r, r.Field(o, "peerASN")),
			Address:  grammar.As(&r.Report, r.Text(r.Field(o, "peerAddress")), grammar.Addr),
			Password: grammar.Secret(r, r.Field(o, "password"))}
		if p.ASN.OK {
			p.Number = grammar.As(&r.Report, p.ASN, number.ASN).Value
		}
		if n := r.Number(r.Field(o, "port")); n.OK && n.Value != 179 {
			r.Errorf(n.At, "%d is not the port of BGP, 179, which FRR uses here: remove it",
				n.Value)
		}
		with := session.Read(r, o)
		if with.Far.Value {
			p.Hops = document.Given(mostHops, with.Far.At)
		}
		peers, all = append(peers, p), append(all, with)
	}
	return peers, session.Timers(&r.Report, v.At, all)
}

// passwords are those of routers that the document has, by their addresses; nil for none.
func (d Draft) passwords() (all map[netip.Addr]secret.Text) {
	for _, one := range d.racks {
		for _, p := range one.peers {
			if p.Password.OK && p.Address.OK {
				if all == nil {
					all = map[netip.Addr]secret.Text{}
				}
				all[p.Address.Value] = p.Password.Value
			}
		}
	}
	return all
}

// checkPasswords holds that a router has one password, as one file has those of all racks.
func (d Draft) checkPasswords(r *document.Report) {
	seen := map[netip.Addr]router.Draft{}
	for _, one := range d.racks {
		for _, p := range one.peers {
			before, known := seen[p.Address.Value]
			if !p.Address.OK || !p.Password.OK {
				continue
			}
			if text := p.Password.Value.Reveal(); len(text) > 80 || text == "" {
				r.Errorf(p.Password.At, "has %d bytes: write 1 to 80, which a kernel takes "+
					"(RFC 2385)", len(text))
			} else if !p.Password.Value.Word() {
				r.Errorf(p.Password.At, "has a blank or a control character: choose one without")
			} else if known && before.Password.Value.Reveal() != text {
				r.Errorf(p.Password.At, "differs from that of the same router, %s",
					fmt.Sprint(before.Password.At.Where()))
			}
			seen[p.Address.Value] = p
		}
	}
}
