package routers

// eos is the configuration of Arista's EOS, 4.22 or later. By default it treats paths through
// other AS numbers as equal, but uses one path unless maximum-paths is set. It sends no community
// of whatever kind unless send-community is set.
func eos(l leaf) string {
	var out lines
	if t := l.Timing; t.BFDIntervalMs > 0 {
		out.add("router bfd\n   interval %d min-rx %d multiplier %d default\nexit", t.BFDIntervalMs,
			t.BFDIntervalMs, t.BFDMultiplier)
	}
	for _, family := range l.families() {
		out.add("%s prefix-list onprem-vips-%s", matching(family), family)
		for i, v := range l.of(family) {
			out.add("   seq %d permit %s/%d", 5*(i+1), v, v.BitLen())
		}
		out.add("exit")
	}
	for _, way := range []string{"in", "out"} {
		for i, family := range l.families() {
			out.add("route-map onprem-hosts-%s permit %d\n   match %s address prefix-list "+
				"onprem-vips-%s\nexit", way, 10*(i+1), matching(family), family)
		}
	}
	name := l.group()
	out.add("router bgp %s", l.as())
	if l.ECMP {
		out.add("   maximum-paths %d ecmp %d\n   bgp bestpath as-path multipath-relax", l.Paths,
			l.Paths)
	}
	out.add("   neighbor %s peer group\n   neighbor %s remote-as %d\n   neighbor %s timers %d %d\n"+
		"   neighbor %s send-community", name, name, l.Hosts, name, l.Timing.KeepaliveS,
		l.Timing.HoldS, name)
	if l.Timing.BFDIntervalMs > 0 {
		out.add("   neighbor %s bfd", name)
	}
	switch {
	case l.Peer.TTLSecurity:
		out.add("   neighbor %s ttl maximum-hops %d", name, max(l.Peer.Hops, 1)-1)
	case l.Peer.Hops > 1:
		out.add("   neighbor %s ebgp-multihop %d", name, l.Peer.Hops)
	}
	if l.Peer.Interface != "" {
		out.add("   neighbor interface PORT-OF-A-HOST peer-group %s remote-as %d", name, l.Hosts)
	} else {
		out.add("   bgp listen range %s peer-group %s remote-as %d", l.network(), name, l.Hosts)
	}
	for _, family := range l.families() {
		if l.carries(family) {
			out.add("   address-family %s\n      neighbor %s activate\n      neighbor %s "+
				"route-map onprem-hosts-in in\n      neighbor %s route-map onprem-hosts-out "+
				"out\n   exit", family, name, name, name)
		}
	}
	out.add("exit")
	return out.String()
}

// nxos is the configuration of Cisco's NX-OS. It advertises no path to a neighbour whose AS
// number is in it unless disable-peer-as-check is set, and no community unless send-community is.
func nxos(l leaf) string {
	var out lines
	out.add("feature bgp")
	t := l.Timing
	if t.BFDIntervalMs > 0 {
		out.add("feature bfd\nbfd interval %d min_rx %d multiplier %d", t.BFDIntervalMs,
			t.BFDIntervalMs, t.BFDMultiplier)
	}
	l.lists(&out, "  ")
	out.add("router bgp %s", l.as())
	if l.ECMP {
		out.add("  bestpath as-path multipath-relax")
		for _, family := range l.families() {
			out.add("  address-family %s unicast\n    maximum-paths %d", family, l.Paths)
		}
	}
	if l.Peer.Interface != "" {
		out.add("  neighbor PORT-OF-A-HOST")
	} else {
		out.add("  neighbor %s", l.network())
	}
	out.add("    remote-as %d\n    timers %d %d", l.Hosts, t.KeepaliveS, t.HoldS)
	if t.BFDIntervalMs > 0 {
		out.add("    bfd")
	}
	switch {
	case l.Peer.TTLSecurity:
		out.add("    ttl-security hops %d", max(l.Peer.Hops, 1))
	case l.Peer.Hops > 1:
		out.add("    ebgp-multihop %d", l.Peer.Hops)
	}
	for _, family := range l.families() {
		if l.carries(family) {
			out.add("    address-family %s unicast\n      send-community\n      "+
				"disable-peer-as-check\n      route-map onprem-hosts-in in\n      route-map "+
				"onprem-hosts-out out", family)
		}
	}
	return out.String()
}

// junos is the configuration of Juniper's Junos, as commands. It advertises no path to a
// neighbour whose AS number is in it, unless advertise-peer-as is set.
func junos(l leaf) string {
	var out lines
	if l.Peer.TTLSecurity {
		out.add("# Junos asks for the hosts' TTL by a firewall filter alone: port 179, ttl-except.")
	}
	for _, way := range []string{"in", "out"} {
		policy := "set policy-options policy-statement onprem-hosts-" + way
		for _, v := range l.VIPs {
			out.add("%s term vips from route-filter %s/%d exact", policy, v, v.BitLen())
		}
		out.add("%s term vips then accept\n%s then reject", policy, policy)
	}
	out.add("set routing-options autonomous-system %s", l.as())
	if l.ECMP {
		out.add("set policy-options policy-statement onprem-spread then load-balance per-packet\n" +
			"set routing-options forwarding-table export onprem-spread")
	}
	group := "set protocols bgp group " + l.group()
	set := func(format string, args ...any) { out.add(group+" "+format, args...) }
	set("type external")
	set("peer-as %d", l.Hosts)
	set("hold-time %d", l.Timing.HoldS)
	if t := l.Timing; t.BFDIntervalMs > 0 {
		set("bfd-liveness-detection minimum-interval %d", t.BFDIntervalMs)
		set("bfd-liveness-detection multiplier %d", t.BFDMultiplier)
	}
	if l.ECMP {
		set("multipath multiple-as")
	}
	switch {
	case l.Peer.TTLSecurity && l.Peer.Hops > 1:
		set("multihop ttl 255")
	case l.Peer.TTLSecurity:
		set("ttl 255")
	case l.Peer.Hops > 1:
		set("multihop ttl %d", l.Peer.Hops)
	}
	for _, family := range l.families() {
		if l.carries(family) {
			word := map[string]string{"ipv4": "inet", "ipv6": "inet6"}[family]
			set("family %s unicast", word)
		}
	}
	set("advertise-peer-as")
	set("import onprem-hosts-in")
	set("export onprem-hosts-out")
	if l.Peer.Interface != "" {
		set("dynamic-neighbor hosts peer-auto-discovery family inet6 ipv6-nd")
		set("dynamic-neighbor hosts peer-auto-discovery interface PORT-OF-A-HOST")
	} else {
		set("allow %s", l.network())
	}
	return out.String()
}
