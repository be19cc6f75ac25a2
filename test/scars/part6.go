package scars

// part6 is what is asked of the nodes' name servers.
func part6() []Scar {
	const (
		corefile = "shared/corefile/Corefile.tmpl"
		render   = "shared/corefile/render.go"
		decide   = "cluster/dns/decide.go"
		apply    = "cluster/dns/apply.go"
	)
	return []Scar{
		kept("D-01", "Names of the network were asked of a public server at random.",
			by("test/daemons", "TestForwardOrder", corefile, "policy sequential", "policy random")),
		kept("D-02", "Without a name server there was nothing to forward to, and CoreDNS did not start.",
			by("shared/nameserver", "TestUpstreams/no file", "shared/nameserver/nameserver.go", `return nil, "no usable name server in any resolv.conf"`, `return []netip.Addr{{}}, "no usable name server in any resolv.conf"`),
			by("test/poddns", "TestNodeLife", corefile, "{{- else if not .Last}}", "{{- else}}")),
		kept("D-03", "A change of the name servers was not followed.",
			by("cluster/dns", "TestReload", apply, "	if changed {\n		r.read = false\n	}\n", "	if changed && err != nil {\n		r.read = false\n	}\n"),
			by("test/poddns", "TestChanges", apply, "	if changed {\n		r.read = false\n	}\n", "	if changed && err != nil {\n		r.read = false\n	}\n")),
		kept("D-04", "A machine forwarded to itself.",
			by("cluster/dns", "TestDecideUpstreams/D-04: never this machine, in any family", "cluster/dns/dns.go", "self[a.Prefix.Addr()] = true", "self[a.Prefix.Addr()] = a.Prefix.Addr().Is4()"),
			by("cluster/dns", "TestDecideUpstreams/never another node, which would ask us", "cluster/dns/dns.go", "self[a.Unmap().WithZone(\"\")] = true", "self[a.Unmap().WithZone(\"\")] = false"),
			by("cluster/dns", "TestDecideKnowing/a control plane node knows all and asks none of its like", decide, "if r.role != role.Master {", "if r.role != role.Master || r.plan.Platform != \"\" {")),
		kept("D-05", "The stub of systemd-resolved was asked, which asked us.",
			by("cluster/dns", "TestDecideUpstreams/D-05: never a loopback, never the stub resolver", "shared/resolvconf/parse.go", "case addr.IsLoopback(), addr.IsUnspecified()", "case addr.IsUnspecified()")),
		kept("D-06", "Large answers over UDP were lost on their way.",
			by("test/daemons", "TestForwardSize", corefile, ".:53 {\n{{- template \"errors\" .Outside}}\n    bufsize 512\n", ".:53 {\n{{- template \"errors\" .Outside}}\n    bufsize 4096\n"),
			by("test/daemons", "TestNodeNames", corefile, "{{.Zone}}:53 {\n{{- template \"errors\" .Inside}}\n    bufsize 512\n", "{{.Zone}}:53 {\n{{- template \"errors\" .Inside}}\n    bufsize 4096\n")),
		kept("D-07", "Names that only look like the cluster's got its VIPs.",
			by("test/daemons", "TestNames/dual", render, `return "^" + name`, "return name"),
			by("test/daemons", "TestNames/dual", render, "return `^([^.\\\\]+\\.)+` + name", "return name")),
		kept("D-08", "The absence of one family, or of a type, was told as the absence of the name.",
			by("test/daemons", "TestNames/ipv4", corefile, "template IN ANY {{.Zone}} {", "template IN SRV {{.Zone}} {"),
			by("test/daemons", "TestNodeNames", corefile, "{{- template \"records\" .}}\n{{- template \"rest\" .Inside}}", "{{- template \"rest\" .Inside}}")),
		kept("D-09", "A second address of one family was taken for the other family's.",
			by("shared/record", "TestCluster/two of one family", "shared/record/record.go", "return k.Is4() == a.Is4()", "return k == a")),
		kept("D-10", "Nodes had the names of one family only.",
			by("cluster/dns", "TestDecideHosts/D-10: both families, by short name, sorted", decide, "own = append(own, a)", "own = []netip.Addr{a}")),
		kept("D-11", "The health check's port was another program's.",
			by("shared/port", "TestAll", "shared/port/port.go", "{CoreDNSHealth, 18080,", "{CoreDNSHealth, 8080,")),
		kept("D-12", "Names of nodes came late, or stayed when the nodes had gone or had another address (W-20).",
			by("cluster/dns", "TestNodesWithoutAPI", decide, "case synced && len(nodes) > 0:", "case synced && len(nodes) > 0 && len(nodes) != len(r.known):"),
			by("test/poddns", "TestChanges", corefile, "reload 500ms", "reload 5s"),
			by("test/poddns", "TestWorkerAsksMasters", render, "p.Inside.To = append(p.Inside.To, upstream(a))", "_ = a")),
		kept("D-13", "Before the network knew the cluster's names, nobody answered for them.",
			by("shared/record", "TestCluster/IPv4", "shared/record/record.go", `Record{Name: "api-int." + zone, Addresses: slices.Clone(addresses)}`, `Record{Name: "api-internal." + zone, Addresses: slices.Clone(addresses)}`)),
		kept("D-14", "Names were answered where another name server answers for them.",
			by("cluster/dns", "TestDecideRecords", decide, "if r.plan.DNSRecords != spec.External {", "if r.plan.DNSRecords != spec.External || r.role != \"\" {"),
			by("cluster", "TestMatrix/arbiter", "shared/plan/nodes.go", "LB:       r == role.Master,", "LB:       r != role.Worker,"),
			by("cluster", "TestMatrix/user-managed master", "cluster/assets.go", "if runs.Disabled && s.Name != coredns && s.Name != publisher {", "if false {"),
			by("test/render", "TestRender/baremetal-user-managed", "cluster/assets.go", "if runs.Disabled && s.Name != coredns && s.Name != publisher {", "if runs.Disabled {")),
		partly("D-15", "While CoreDNS was replaced, an update of the machine could not look up its registry.",
			"For the seconds in which its pod is replaced, a node is without the cluster's own names. Kept is that other names are found: the network's servers stand behind ours in resolv.conf.",
			by("shared/resolvconf", "TestPrepend/R-04: two", "shared/resolvconf/prepend.go", "			first()\n			add(a, line)\n", "			first()\n			if a == own.Server {\n				add(a, line)\n			}\n")),
		kept("D-16", "CoreDNS complained at its start of a hosts file that was not there.",
			by("cluster/dns", "TestNodesWithoutAPI", apply, "if err != nil || len(text) > 0 {", "if err != nil || len(text) >= 0 {"),
			by("test/poddns", "TestNodeLife", apply, "if err != nil || len(text) > 0 {", "if err != nil || len(text) >= 0 {")),
	}
}
