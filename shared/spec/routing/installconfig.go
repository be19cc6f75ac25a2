package routing

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/number"
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
// routers say nothing of BFD has it here, and has none there.
func ReadInstallConfig(
	r *document.Reader, section document.Map, machines network.List[network.Network],
) Draft {
	config := r.Map(r.Field(section, "bgpVIPConfig"))
	if !config.Given {
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
	for _, m := range machines.All {
		if m.Prefix.Addr().Is4() == machines.All[0].Prefix.Addr().Is4() {
			d.racks = append(d.racks, rack{at: config.At, peers: near(peers, m, machines),
				timers: times, network: document.Given(m.Prefix, m.At)})
		}
	}
	hosts, _ := r.List(r.Field(section, "hosts"))
	for _, e := range hosts {
		host := r.Map(e)
		if own := r.Field(host, "bgpPeers"); own.Given() {
			peers, times := readInstallPeers(r, own)
			d.racks = append(d.racks, rack{at: own.At, name: r.Text(r.Field(host, "name")),
				peers: peers, timers: times})
		}
	}
	return d
}

// near are the routers of hosts in a network: those that are in it, and those that are in none of
// its family, as a host has an address of each. All of them, if there are no such.
func near(peers []peer, in network.Network, machines network.List[network.Network]) []peer {
	own := slices.DeleteFunc(slices.Clone(peers), func(p peer) bool {
		return !in.Prefix.Contains(p.address.Value) && slices.ContainsFunc(machines.All,
			func(m network.Network) bool {
				return m.Prefix.Contains(p.address.Value) &&
					m.Prefix.Addr().Is4() == in.Prefix.Addr().Is4()
			})
	})
	if len(own) == 0 {
		return peers
	}
	return own
}

// readInstallPeers reads routers. Each may have timers of its own there; a rack has those of all.
func readInstallPeers(r *document.Reader, v document.Value) (peers []peer, t timers.Draft) {
	list, _ := r.List(v)
	var all []session.Session
	for _, e := range list {
		o := r.Map(e)
		p := peer{at: o.At, asn: number.ReadASN(r, r.Field(o, "peerASN")),
			address:  grammar.As(&r.Report, r.Text(r.Field(o, "peerAddress")), grammar.Addr),
			password: grammar.Secret(r, r.Field(o, "password"))}
		if p.asn.OK {
			p.number = grammar.As(&r.Report, p.asn, number.ASN).Value
		}
		if n := r.Number(r.Field(o, "port")); n.OK && n.Value != 179 {
			r.Errorf(n.At, "%d is not the port of BGP, 179, which FRR uses here: remove it",
				n.Value)
		}
		with := session.Read(r, o)
		if with.Far.Value {
			p.hops = document.Given(mostHops, with.Far.At)
		}
		peers, all = append(peers, p), append(all, with)
	}
	return peers, session.Timers(&r.Report, v.At, all)
}

// passwords are those of routers that the document has, by their addresses; nil for none.
func (d Draft) passwords() (all map[netip.Addr]secret.Text) {
	for _, one := range d.racks {
		for _, p := range one.peers {
			if p.password.OK && p.address.OK {
				if all == nil {
					all = map[netip.Addr]secret.Text{}
				}
				all[p.address.Value] = p.password.Value
			}
		}
	}
	return all
}

// checkPasswords holds that a router has one password, as one file has those of all racks.
func (d Draft) checkPasswords(r *document.Report) {
	seen := map[netip.Addr]peer{}
	for _, one := range d.racks {
		for _, p := range one.peers {
			before, known := seen[p.address.Value]
			if !p.address.OK || !p.password.OK {
				continue
			}
			if text := p.password.Value.Reveal(); len(text) > 80 || text == "" {
				r.Errorf(p.password.At, "has %d bytes: write 1 to 80, which a kernel takes "+
					"(RFC 2385)", len(text))
			} else if !p.password.Value.Word() {
				r.Errorf(p.password.At, "has a blank or a control character: choose one without")
			} else if known && before.password.Value.Reveal() != text {
				r.Errorf(p.password.At, "differs from that of the same router, %s",
					fmt.Sprint(before.password.At.Where()))
			}
			seen[p.address.Value] = p
		}
	}
}
