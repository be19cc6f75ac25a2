package scars

// weaknesses are those of today's code that a test keeps this one from.
func weaknesses() []Scar {
	const (
		nodes    = "cluster/vip"
		template = "shared/keepalived/keepalived.conf.tmpl"
		sources  = "    check_unicast_src\n"
		nobodys  = "    # check_unicast_src\n"
		near     = "{{if $near}} min_ttl 255{{end}}"
	)
	return []Scar{
		kept("W-14", "A monitor ended over an error that passed, and its last word kept the VIP on a broken node.",
			by(nodes, "TestLocalFirst", "cluster/vip/observe.go", "\tif !r.health.Alive() {", "\tif false {"),
			by(nodes, "TestChecksEarlier", "cluster/vip/checks.go", "Passes: before(name)", "Passes: false")),
		partly("W-28", "A cluster of one node, or what was left of one after a restart, had no instance.",
			"A node that the API names alone in a highly available control plane waits for a second one: before there are two, nobody knows who else stands.",
			by(nodes, "TestEveryNumberOfNodes", "cluster/vip/decide.go", "small := []spec.Topology{spec.SingleReplica, ", "small := []spec.Topology{"),
			by(nodes, "TestAPIAway", "cluster/vip/vip.go", "`json:\"nodes\"`", "`json:\"-\"`")),
		partly("W-30", "Any host of the network could outrank the holder.",
			"The password is today's, which nodes of today must understand: it is no secret. A host that forges a peer's address is heard.",
			by("test/daemons", "TestKnown", template, sources, nobodys),
			by("test/daemons", "TestKnown", template, near, "")),
		kept("W-31", "Adverts of hosts that are no peers were believed.",
			by("test/daemons", "TestKnown", template, sources, nobodys),
			by("test/daemons", "TestKnown", "shared/host/nft/vrrp.go", "Data: []byte{nearTTL}", "Data: []byte{nearTTL - 1}"),
			by(nodes, "TestKnown", "cluster/vip/learn.go", "if s.At.Sub(r.held[name]) >= reign {", "if true {")),
	}
}
