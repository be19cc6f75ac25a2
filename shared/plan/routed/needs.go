package routed

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// needs are what cannot be proved here: it is in the hands of those who run the routers.
func (p *Plan) needs(c spec.Cluster) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	var vips []netip.Prefix
	for _, v := range slices.Concat(c.APIVIPs, c.IngressVIPs) {
		vips = append(vips, netip.PrefixFrom(v, v.BitLen()))
	}
	if c.DNSVIP.IsValid() {
		vips = append(vips, netip.PrefixFrom(c.DNSVIP, c.DNSVIP.BitLen()))
	}
	add("each router of a rack accepts from AS %d the routes %v, whose paths have up to %d times "+
		"that number, and passes them on", p.ASN, vips, 1+int(p.Grades.Leaving))
	add("every router compares the length of paths (no bestpath as-path ignore): by it hosts are " +
		"in front of others, and between routers of which some do not, packets circle")
	add("it has a session with every host of its rack, such as by a range of addresses")
	for _, g := range p.timings() {
		t, of := g.Timing, strings.Join(g.racks, ", ")
		add("its hold time is %d s (%s)", t.HoldS, of)
		if t.BFDIntervalMs > 0 {
			add("it does BFD with every host: %d packets, every %d ms (%s); many switches allow "+
				"300 ms at least, for which timing vm is", t.BFDMultiplier, t.BFDIntervalMs, of)
		}
	}
	if p.secured() {
		add("where ttlSecurity is set, it asks for the same of hosts; FRR does so only with " +
			"hosts that it names, each in a peer-group: in a range of addresses it does not, and " +
			"without a group it does BFD as over several hops (port 4784), which hosts do not")
	}
	if p.Mode == ecmp {
		add("all routers spread connections over paths of equal length, also those through " +
			"different systems (multipath-relax), as many as hosts announce")
		add("they hash by addresses and ports; where they can, they keep connections in place " +
			"when a path comes or goes (resilient hashing)")
	}
	add("no router damps routes that come and go (RFC 2439), and none keeps those of a host " +
		"that is gone (the helper of graceful restart): the hosts ask for neither")
	add("no router redirects by ICMP on the hosts' networks (Linux: send_redirects=0, EOS and " +
		"NX-OS: no ip redirects, Junos: no-redirects): a machine of a rack that follows one " +
		"sends to a single host from then on, also when that is gone")
	add("every router passes large communities on, to hosts too (RFC 8092; EOS and NX-OS: " +
		"send-community, without which they pass none): by them a host knows the paths of other " +
		"hosts beside its own")
	add("no router removes private numbers from paths towards its hosts; where it can, it sends " +
		"hosts the paths of others (NX-OS: disable-peer-as-check, Junos: advertise-peer-as), so " +
		"that a host that leaves sees when another one is used")
	return all
}

// timed is a timing, with the racks that have it.
type timed struct {
	Timing
	racks []string
}

// timings are those that racks have, each once, in the order of the racks.
func (p *Plan) timings() (all []timed) {
	for _, r := range p.Racks {
		i := slices.IndexFunc(all, func(t timed) bool { return t.Timing == r.Timing })
		if i < 0 {
			i, all = len(all), append(all, timed{Timing: r.Timing})
		}
		all[i].racks = append(all[i].racks, r.String())
	}
	return all
}

// notes are what people should know of the mode.
func (p *Plan) notes() []string {
	if p.Mode != ecmp {
		return []string{"all connections are at one node: its failure breaks all of them, that " +
			"of another one none, and its return all of them once more"}
	}
	all := []string{
		"a failure breaks the connections of its host, and with routers without resilient " +
			"hashing up to a quarter of those of the others; a host that returns breaks about " +
			"half of all long connections once: bgp.mode preferred does not, until the first " +
			"host returns",
		"routers above the racks spread connections over the racks' routers, and those over " +
			"their hosts: racks with the same number of hosts that announce a VIP give each the " +
			"same share, `onprem-infra doctor` on a node prints those of the control plane",
	}
	if racks := p.unequal(); racks != "" {
		all = append(all, "racks have different numbers of routers ("+racks+"): a rack gets "+
			"connections from outside by the number of its routers, not of its hosts")
	}
	return all
}

// secured reports whether some router has TTL security: packets count only from near (RFC 5082).
func (p *Plan) secured() bool {
	return slices.ContainsFunc(p.Racks, func(r Rack) bool {
		return slices.ContainsFunc(r.Peers, func(peer Peer) bool { return peer.TTLSecurity })
	})
}
