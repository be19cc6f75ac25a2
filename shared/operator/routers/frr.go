package routers

import (
	"fmt"
	"strings"
)

// lines collects a router's configuration.
type lines struct{ strings.Builder }

func (l *lines) add(format string, args ...any) { fmt.Fprintf(&l.Builder, format+"\n", args...) }

// matching is the keyword of a family in prefix lists of FRR, EOS and NX-OS.
func matching(family string) string {
	return map[string]string{"ipv4": "ip", "ipv6": "ipv6"}[family]
}

// lists adds the VIPs as prefix lists, and the route maps that accept and advertise only them, in
// the syntax that FRR and NX-OS share. indent is that of lines in a route map.
func (l leaf) lists(out *lines, indent string) {
	for _, family := range l.families() {
		for i, v := range l.of(family) {
			out.add("%s prefix-list onprem-vips-%s seq %d permit %s/%d", matching(family), family,
				5*(i+1), v, v.BitLen())
		}
	}
	for _, way := range []string{"in", "out"} {
		for i, family := range l.families() {
			out.add("route-map onprem-hosts-%s permit %d", way, 10*(i+1))
			out.add("%smatch %s address prefix-list onprem-vips-%s", indent, matching(family),
				family)
			out.add("exit")
		}
	}
}

// frr is the configuration of FRR 8.4, as vtysh takes it.
func frr(l leaf) string {
	var out lines
	if t := l.Timing; t.BFDIntervalMs > 0 {
		out.add("bfd\n profile onprem-hosts\n  detect-multiplier %d\n  receive-interval %d\n"+
			"  transmit-interval %d\n exit\nexit", t.BFDMultiplier, t.BFDIntervalMs,
			t.BFDIntervalMs)
	}
	l.lists(&out, " ")
	out.add("router bgp %s", l.as())
	if l.ECMP {
		out.add(" bgp bestpath as-path multipath-relax")
	}
	name := l.group()
	out.add(" neighbor %s peer-group\n neighbor %s remote-as %d\n neighbor %s timers %d %d", name,
		name, l.Hosts, name, l.Timing.KeepaliveS, l.Timing.HoldS)
	if l.Timing.BFDIntervalMs > 0 {
		out.add(" neighbor %s bfd\n neighbor %s bfd profile onprem-hosts", name, name)
	}
	switch {
	case l.Peer.TTLSecurity:
		out.add(" neighbor %s ttl-security hops %d", name, max(l.Peer.Hops, 1))
	case l.Peer.Hops > 1:
		out.add(" neighbor %s ebgp-multihop %d", name, l.Peer.Hops)
	}
	if l.Peer.Interface != "" {
		out.add(" neighbor PORT-OF-A-HOST interface peer-group %s", name)
	} else {
		out.add(" bgp listen range %s peer-group %s", l.network(), name)
	}
	for _, family := range l.families() {
		if !l.carries(family) {
			if family == "ipv4" { // by default FRR carries it on each session
				out.add(" address-family ipv4 unicast\n  no neighbor %s activate\n"+
					" exit-address-family", name)
			}
			continue
		}
		out.add(" address-family %s unicast", family)
		if l.ECMP {
			out.add("  maximum-paths %d", l.Paths)
		}
		out.add("  neighbor %s activate\n  neighbor %s route-map onprem-hosts-in in\n"+
			"  neighbor %s route-map onprem-hosts-out out\n exit-address-family", name, name, name)
	}
	out.add("exit")
	return out.String()
}
