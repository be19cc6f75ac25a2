package scars

func part1() []Scar {
	const (
		ids        = "shared/vrrp/ids.go"
		auth       = "shared/vrrp/auth.go"
		template   = "shared/keepalived/keepalived.conf.tmpl"
		choose     = "shared/addr/choose.go"
		member     = "shared/addr/member.go"
		decide     = "bootstrap/vip/decide.go"
		node       = "shared/host/kube/node.go"
		checksum   = "a = (a + s[i]) % 15\n\t\tb = (b + a) % 15"
		masked     = "a = (a + s[i]) & 0xf\n\t\tb = (b + a) & 0xf"
		password   = `pass := cluster + "_" + string(kind) + "_vip"`
		literal    = `pass := "cluster_uuid_" + string(kind) + "_vip"`
		ofOne      = "own.BitLen() == vip.BitLen()"
		ofLook     = "own.Unmap().BitLen() == vip.Unmap().BitLen()"
		multicast  = "if p.VRRP.Mode == spec.Multicast {"
		ttl        = "    unicast_ttl 255\n"
		perVIP     = "a.IsValid() && a.BitLen() == vip.BitLen() && a != vip"
		perNobody  = "a.IsValid() && a != vip"
		monitor    = "cluster/vip/decide.go"
		nodesMode  = "if r.plan.VRRP.Mode == spec.Multicast {"
		newAnswers = `out.Annotated = annotated(n.Annotations[cidrs])`
	)
	return []Scar{
		kept("K-01", "A checksum with a mask for the modulus gave virtual router ID 0.",
			by("shared/vrrp", "TestIDsInRange", ids, checksum, masked),
			by("shared/vrrp", "TestIDsPublished", ids, checksum, masked),
			by("shared/vrrp", "TestIDsMaskedVariantDiffers", ids, checksum, masked)),
		kept("K-02", "The IDs of the API and ingress could be equal.",
			by("shared/vrrp", "TestIDsBump", ids, "ingress++", "ingress += 0"),
			by("shared/plan", "TestRolesAgreeOnIdentity", "shared/plan/compile.go", "API:               Router{ID: ids[vrrp.API]},", "API:               Router{ID: ids[vrrp.Ingress]},")),
		partly("K-03", "Two clusters with clashing names on one LAN fought, and one got no VIP.",
			"That a clash is found before the VIP is claimed: keepalived's log names the stranger where it hears it, which is in multicast mode.",
			by("test/daemons", "TestClash", auth, password, literal),
			by("shared/vrrp", "TestIDsClashBetweenClusters", ids, checksum, masked)),
		kept("K-04", "A master and a worker disagreed on VRIDs, each taking the cluster's name from elsewhere.",
			by("cluster/vip", "TestNumbers", monitor, "ID: e.id,", "ID: e.id + 1,"),
			by("shared/plan", "TestRolesAgreeOnIdentity", "shared/plan/compile.go", "api, ingress, err := vrrp.IDs(c.Name)", "api, ingress, err := vrrp.IDs(c.Name + c.BaseDomain)"),
			by("bootstrap/vip", "TestDecideNumbers", decide, "vrrp.CompatAuth(p.Cluster.Name, e.kind)", "vrrp.CompatAuth(string(p.Cluster.Zone), vrrp.Ingress)"),
			by("shared/spec", "TestInstallConfigFindings/name with a dot", "shared/spec/names.go", `case strings.Contains(name, "."):`, `case strings.Contains(name, ".."):`)),
		kept("K-05", "Every cluster had the same password, a placeholder that nobody filled in.",
			by("shared/vrrp", "TestCompatAuth", auth, password, literal),
			by("shared/keepalived", "TestRender/ipv4-multicast", template, "auth_pass {{.}}", "auth_pass cluster_uuid"),
			by("bootstrap/vip", "TestDecideNumbers", auth, password, literal),
			by("cluster/vip", "TestNumbers", monitor, "vrrp.CompatAuth(r.plan.Cluster.Name, e.kind)", `"cluster_"`),
			by("cluster", "TestNothingUnexpanded", "cluster/pods.go", `"monitor", "vip", "--role=" + string(r)`, `"monitor", "vip", "--role={{.Role}}"`)),
		kept("K-06", "No VIP on interfaces with names over 12 characters: the label did not fit.",
			by("test/daemons", "TestAddress", template, "/32 label vip", "/32 label {{.Interface}}:vip"),
			by("test/daemons", "TestAddress", template, "/128 preferred_lft 0 noprefixroute", "/128 label vip")),
		kept("K-07", "A VIP with the subnet's mask made a second connected route and became a source address.",
			by("test/daemons", "TestAddress", template, "/32 label vip", "/24 label vip"),
			by("test/daemons", "TestAddress", template, "/128 preferred_lft 0 noprefixroute", "/64")),
		kept("K-08", "Unicast peers of both families in one instance, which keepalived refuses.",
			by("bootstrap/vip", "TestDecide/K-08: each family has its own peers", member, perVIP, perNobody),
			by("shared/addr", "TestMember/K-08 families do not mix", member, perVIP, perNobody),
			by("bootstrap/vip", "TestEveryNumberOfNodes", member, perVIP, perNobody),
			by("cluster/vip", "TestEveryNumberOfNodes", monitor, "inst.Peers = slices.DeleteFunc(members, func", "inst.Peers = slices.DeleteFunc(append(members, r.members(e, r.plan.VIPs.API[len(r.plan.VIPs.API)-1], inst.Source)...), func")),
		kept("K-09", "The second VIP's configuration ignored the mode of the first.",
			by("bootstrap/vip", "TestModeReachesEveryInstance", decide, multicast, "if p.VRRP.Mode == spec.Multicast && i == 0 {"),
			by("cluster/vip", "TestMulticast", monitor, nodesMode, "if r.plan.VRRP.Mode == spec.Multicast && i == 0 {")),
		kept("K-10", "The bootstrap machine spoke unicast and the masters multicast: two VRRP domains.",
			by("cluster/vip", "TestMulticast", monitor, nodesMode, "if false && r.plan.VRRP.Mode == spec.Multicast {"),
			by("bootstrap/vip", "TestModeReachesEveryInstance", decide, multicast, "if false && p.VRRP.Mode == spec.Multicast {"),
			by("test/daemons", "TestReload", template, ttl, ""),
			by("bootstrap/vip", "TestDecide/a cluster that asks for multicast keeps it", decide, multicast, "if p.VRRP.Mode == spec.Unicast {")),
		partly("K-11", "The address moved to a bridge, and VRRP stayed on the dead interface.",
			"The drill in the booted machine is a step of TestLongHost that needs those before it: no defect is replayed there.",
			by("bootstrap/vip", "TestInstanceFollowsItsAddress", decide, "choice, err := addr.ForVIP(", "if last, ok := r.seen[vip]; ok {\n\t\treturn last.choice, nil\n\t}\n\tchoice, err := addr.ForVIP("),
			by("shared/addr", "TestForVIP/K-11 moved, nothing agreed", choose, "return c.Prefix.Masked(), c.Prefix.Contains(vip)", "return c.Prefix.Masked(), c.Prefix.Contains(vip) && c.Index < 7"),
			by("shared/host/link", "TestWatch", "shared/host/link/watch.go", "unix.RTNLGRP_LINK, unix.RTNLGRP_IPV4_IFADDR, unix.RTNLGRP_IPV6_IFADDR,\n\t\tunix.RTNLGRP_IPV4_ROUTE, unix.RTNLGRP_IPV6_ROUTE)", "unix.RTNLGRP_LINK)")),
		kept("K-12", "After the move the monitor waited for an API that the stale VIP had cut off.",
			by("bootstrap/vip", "TestInstanceFollowsItsAddress", decide, "s.At.Sub(last.at) < addressGap", "(s.Verdict.Why != \"the local API is ready\" || s.At.Sub(last.at) < addressGap)"),
			by("bootstrap/vip", "TestDecideMovesWithoutTheAPI", decide, "choice, err := addr.ForVIP(", "if last, ok := r.seen[vip]; ok && s.Verdict.Why != \"the local API is ready\" {\n\t\treturn last.choice, nil\n\t}\n\tchoice, err := addr.ForVIP("),
			by("bootstrap/vip", "TestDecideRidesOverAnAddressThatIsReplaced", decide, "s.At.Sub(last.at) < addressGap", "s.At.Sub(last.at) < 100*addressGap")),
		kept("K-13", "A /128 address was taken for a /64, and the wrong interface won.",
			by("shared/addr", "TestForVIP/K-13 both by DHCPv6", choose, "	var found netip.Prefix\n", "	if wide, err := c.Prefix.Addr().Prefix(64); err == nil {\n\t\treturn wide, wide.Contains(vip)\n\t}\n	var found netip.Prefix\n"),
			by("shared/addr", "TestForVIP/K-13 a lone /128 claims no /64", choose, "	var found netip.Prefix\n", "	if wide, err := c.Prefix.Addr().Prefix(64); err == nil {\n\t\treturn wide, wide.Contains(vip)\n\t}\n	var found netip.Prefix\n")),
		kept("K-14", "The network's address was used as the node's.",
			by("shared/addr", "TestForVIPIsOnTheHost", choose, "Address: c.Prefix.Addr(), ", "Address: c.Prefix.Masked().Addr(), "),
			by("shared/addr", "TestForVIP/K-14 an address and not its network", choose, "Address: c.Prefix.Addr(), ", "Address: c.Prefix.Masked().Addr(), "),
			by("cluster/vip", "TestOwnAddress", monitor, "inst.Source = choice.Address", "inst.Source = netip.PrefixFrom(choice.Address, 24).Masked().Addr()")),
		kept("K-15", "An IPv4-mapped IPv6 address was taken for IPv4.",
			by("shared/addr", "TestMappedIsIPv6", choose, ofOne, ofLook),
			by("shared/addr", "TestForVIP/K-15 and holds no IPv4 VIP", choose, ofOne, ofLook),
			by("shared/addr", "TestMappedIsIPv6", member, perVIP, "a.IsValid() && a.Unmap().BitLen() == vip.BitLen() && a != vip"),
			by("shared/host/kube", "TestNodeAddresses/K-15: an IPv4-mapped address stays IPv6", node, "out.InternalIPs = append(out.InternalIPs, ip)", "out.InternalIPs = append(out.InternalIPs, ip.Unmap())"),
			by("shared/host/link", "TestSnapshot", "shared/host/link/snapshot.go", "return netip.PrefixFrom(ip, ones)", "return netip.PrefixFrom(ip.Unmap(), ones)"),
			by("shared/host/link", "TestRemoveAddress", "shared/host/link/address.go", "if address.Is4In6() {", "if false && address.Is4In6() {")),
		kept("K-16", "A Node's status had one family, peers of the other were missing, and a node did not find itself.",
			by("shared/addr", "TestMember/K-16 no InternalIP at all", member, "for _, a := range node.Annotated {", "for _, a := range node.Annotated[:0] {"),
			by("shared/addr", "TestMember/K-16 a machine finds itself", member, "if fits(own) && slices.Contains(node.Annotated, own) {", "if false && fits(own) {"),
			by("shared/addr", "TestMemberMatrix", member, "case len(networks) == 0:", "case true:"),
			by("shared/host/kube", "TestNodeAddresses/garbage among addresses", node, "s, _ := entry.(string)\n", "s, ok := entry.(string)\n\t\tif !ok {\n\t\t\treturn nil\n\t\t}\n"),
			by("shared/notice", "TestCandidateAddress", "shared/notice/notice.go", "slices.Contains(c.Addresses, own) {", "false {"),
			by("cluster/candidates", "TestRankAddresses", "cluster/candidates/rank.go", "if slices.Contains(n.InternalIPs, first) {", "if true {")),
		kept("K-17", "The annotation that named a host's addresses was renamed.",
			by("shared/host/kube", "TestNodeAddresses/annotated prefixes", node, newAnswers, `out.Annotated = annotated(n.Annotations[hosts])`),
			by("shared/host/kube", "TestNodeAddresses/annotated addresses, the older form", node, "if len(out.Annotated) == 0 {", "if false {"),
			by("shared/host/kube", "TestNodeAddresses/both: the newer counts", node, "if len(out.Annotated) == 0 {", "if true {")),
		kept("K-18", "A VIP outside every local subnet failed a check, in one of two copies of the code.",
			by("shared/addr", "TestMember/K-18 a VIP behind a router", member, "case len(internal) > 0:", "case len(internal) > 0 && false:"),
			by("shared/addr", "TestMember/K-18 a VIP behind a router", member, "return !p.Contains(vip) })", "return false })"),
			by("shared/addr", "TestForVIP/K-18 a VIP behind a router", choose, "if c, route, ok := byDefaultRoute(s.Routes, own); ok {", "if c, route, ok := byDefaultRoute(s.Routes, own); ok && false {"),
			by("cluster/vip", "TestOutside", "cluster/vip/learn.go", "\tfor _, n := range r.controlPlaneFirst(e.nodes) {\n", "\tfor _, n := range r.controlPlaneFirst(e.nodes) {\n\t\tif !r.plan.MachineNetworks[0].Contains(vip) {\n\t\t\tcontinue\n\t\t}\n")),
		kept("K-19", "Pods lacked the agreed address's file and picked another interface than the kubelet.",
			by("cluster", "TestDecisionMounts", "cluster/pods.go", "{Volume: nodeIP}, {Volume: state, Writable: true}", "{Volume: state, Writable: true}"),
			by("cluster/vip", "TestOwnAddress", monitor, "\t\t\thint = a\n", "\t\t\t_ = a\n"),
			by("cmd/onprem-infra", "TestAgreed", "cmd/onprem-infra/monitor_vip_host.go", "[]string{\"ipv4\", \"ipv6\"} {\n\t\ttext", "[]string{\"ipv6\"} {\n\t\ttext"),
			by("shared/addr", "TestForVIP/K-19 the agreed address wins", choose, "if c.Prefix.Addr() == hint {", "if false {"),
			by("shared/addr", "TestForVIP/K-19 an agreed address that is gone", choose, "for _, c := range own {\n\t\tif c.Prefix.Addr() == hint {", "if hint.IsValid() {\n\t\treturn Choice{Address: hint}, nil\n\t}\n\tfor _, c := range own {\n\t\tif c.Prefix.Addr() == hint {")),
		kept("K-20", "With an arbiter or two nodes there is one Node for long, and nobody had the VIP.",
			by("bootstrap/vip", "TestEveryNumberOfNodes", decide, "if len(inst.Peers) > 0 {", "if len(inst.Peers) > 1 {"),
			by("bootstrap/vip", "TestDecide/one node is enough", decide, "if len(inst.Peers) > 0 {", "if len(inst.Peers) > 1 {"),
			by("cluster/vip", "TestEveryNumberOfNodes", "shared/plan/nodes.go", "known == 1 && (slices.Contains(small, p.Topology)", "known == 1 && (slices.Contains(small[:1], p.Topology)"),
			by("cluster/vip", "TestEveryNumberOfNodes", monitor, "inst.Peers = []netip.Addr{keepalived.Group(vip)}", "inst.Peers = []netip.Addr{netip.IPv4Unspecified()}")),
		kept("K-21", "OpenStack: the VIPs of the two families went to different nodes.",
			by("cluster/vip", "TestTogether", monitor, "return dual && r.plan.Platform == spec.OpenStack", "return dual && r.plan.Platform == spec.OVirt"),
			by("test/daemons", "TestTogether", template, "{{- range .Groups}}", "{{- range slice .Groups 0 0}}")),
	}
}
