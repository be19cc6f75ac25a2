package scars

// part8 is how a node finds the addresses that it is known by, and what waits for them.
func part8() []Scar {
	const (
		addr    = "shared/addr"
		room    = "cluster/nodeip"
		choice  = "shared/addr/nodeip.go"
		network = "shared/addr/nodeip_network.go"
		byRoute = "shared/addr/nodeip_route.go"
		usable  = "shared/addr/usable.go"
		decide  = "cluster/nodeip/decide.go"
		run     = "cluster/nodeip/run.go"
		wait    = "cluster/nodeip/wait.go"
		forward = "cluster/nodeip/forward.go"
		unit    = "units/nodeip-configuration.service"
		bridge  = "units/wait-for-br-ex-up.service"
		assets  = "cluster/assets.go"
		order   = "Before=kubelet-dependencies.target ovs-configuration.service kubelet.service"
	)
	return []Scar{
		kept("N-01", "No VIP was in a network of the node, and there was no choice.",
			by(addr, "TestForNode/N-01 no VIP's network", choice, "		chosen, losers = f.byRoute()\n", "		_ = f.byRoute\n")),
		kept("N-02", "Without a VIP the choice was by chance, or none.",
			by(addr, "TestForNode/N-02 no VIP given", choice, "	if len(chosen) == 0 {\n		chosen, losers = f.byRoute()", "	if len(chosen) == 0 && len(w.VIPs) > 0 {\n		chosen, losers = f.byRoute()")),
		kept("N-03", "Of several addresses one was taken by chance.",
			by(addr, "TestForNode/N-03 the lower metric", byRoute, "byMetric(), ", ""),
			by(addr, "TestForNode/N-03 the lower index of equal metrics", byRoute, "byIndex(), ", ""),
			by(addr, "TestForNode/N-03 the router's network", byRoute, "hasRouter(), ", ""),
			by(addr, "TestForNode/N-03 public before private", byRoute, "isPublic(), ", ""),
			by(addr, "TestForNode/N-03 real IPv6 before IPv4-mapped", byRoute, "isReal(), ", ""),
			by(addr, "TestForNode/W-21 the lower index, not the lower name", choice, "isUp(), byIndex(), ", "isUp(), "),
			by(addr, "TestForNodeShuffled", choice, "isReal(), lowest()}", "isReal()}")),
		kept("N-04", "The node took the VIP for its own address.",
			by(addr, "TestForNode/N-04 the VIP on the interface", choice, "case slices.ContainsFunc(w.VIPs, isVIP):", "case slices.ContainsFunc(w.Hints, isVIP):"),
			by(addr, "TestForNode/N-04 keepalived's label, and no VIP is known", choice, "case a.Label == vipLabel:", `case a.Label == vipLabel+"-":`)),
		kept("N-05", "An IPv6 address that was tentative yet was used at once, or an old trial's for ever.",
			by(room, "TestTentative", run, "if err := r.host.Bind(a); err != nil {", "if err := r.host.Bind(a); err != nil && r.node.OVN {"),
			by(room, "TestTentative", run, "			wait = soon\n", ""),
			by("cmd/onprem-infra", "TestNodeIPTentative", "cmd/onprem-infra/nodeip_host.go", "	if err != nil {\n		return err\n	}\n	return listener.Close()", "	if err != nil {\n		return nil\n	}\n	return listener.Close()")),
		kept("N-06", "A second run in one boot chose another address.",
			by(room, "TestSetOnce", decide, "	if seen.Primary.IsValid() {", "	if seen.Corrupt {"),
			by(room, "TestSetWrites/one family", decide, "		{Primary, []byte(primary)},\n", "		{Primary, []byte(primary + \"\\n\")},\n")),
		kept("N-07", "OVN's own address, the same on every node, was chosen.",
			by(addr, "TestForNode/N-07 OVN's own address", choice, "own == ovnMasquerade && w.OVN", "own == ovnMasquerade && !w.OVN"),
			by(addr, "TestForNode/N-07 not OVN's where there is no OVN", choice, "own == ovnMasquerade && w.OVN", "own == ovnMasquerade")),
		kept("N-08", "An egress IP was chosen.",
			by(addr, "TestForNode/N-08 an egress IP", usable, `strings.Contains(a.Label, "eip")`, `strings.HasPrefix(a.Label, "eip")`)),
		kept("N-09", "A deprecated address was chosen.",
			by(addr, "TestForNode/N-09 a deprecated address", usable, "case a.Deprecated:", "case a.Deprecated && a.Duplicate:")),
		kept("N-10", "A DHCPv6 address stands alone, and no VIP was in its network.",
			by(addr, "TestForNode/N-10 DHCPv6 with the router's network", choice, "if network, ok := n.network(routes, a); ok {", "if network, ok := n.network(nil, a); ok {")),
		kept("N-11", "A trial each second, and a line for each.",
			by(room, "TestBackOff", run, "pause = min(2*pause, lastPause)", "pause = firstPause"),
			by(room, "TestTentativeForGood", run, "if said.Is(err.Error()) {", "if said.Is(err.Error()) || r.retry {")),
		kept("N-12", "The service manager was not told of the drop-ins.",
			by("units", "TestNodeIP", unit, "ExecStartPost=+/usr/bin/systemctl daemon-reload\n", "")),
		kept("N-13", "Units that did not parse in one variant.",
			by("units", "TestNodeUnitsVerify", unit, "300)); done'", "300)); done"),
			by("units", "TestNodeUnitsKubelet", "units/nodeip.go", "words[slices.Index(words, old)] = other", "words = append(words, other)")),
		kept("N-14", "Behind a proxy the choice waited for an image.",
			by("units", "TestNodeUnitsPullNothing", unit, "EnvironmentFile=-/etc/default/nodeip-configuration", "EnvironmentFile=-/etc/default/nodeip-configuration\nEnvironmentFile=-/etc/mco/proxy.env")),
		kept("N-15", "A container's mount relabelled a directory of the system.",
			by("units", "TestNoRelabel", unit, "ReadWritePaths=/etc/systemd/system", "BindPaths=/etc/systemd/system:/etc/systemd/system:z"),
			by("cluster", "TestNothingUnexpanded", "units/onprem-vip-leave.service", "ExecStop=/usr/local/bin/onprem-infra vip leave\n", "ExecStop=/usr/bin/podman run -v /etc:/etc:z x\n"),
			by("cluster", "TestConfinement", "shared/pod/render.go", "		c.SELinuxOptions = &object.SELinuxOptions{Type: \"spc_t\"}\n", "")),
		kept("N-16", "An image was pulled while the storage was wiped.",
			by("units", "TestNodeOrder", unit, "wait-online.service onprem-install.service\nBefore", "wait-online.service\nBefore"),
			by("units", "TestNodeUnitsPullNothing", unit, "until /usr/local/bin/onprem-infra node-ip set", "until podman run --net host onprem-infra node-ip set")),
		kept("N-17", "The units waited for each other.",
			by("units", "TestNodeOrder", unit, order, order+" NetworkManager.service"),
			by("units", "TestNodeIP", unit, order, "Before=ovs-configuration.service kubelet.service")),
		kept("N-18", "A hint lost against the order of routes, or against a VIP.",
			by(addr, "TestForNode/N-18 W-21 a hint wins over a VIP", choice, `f.byNetwork(w.Hints, "hint")`, `f.byNetwork(w.VIPs, "hint")`),
			by(addr, "TestForNode/N-18 its own address on a later interface", network, "return n.exact })", "return false })"),
			by("cmd/onprem-infra", "TestNodeIPTold/N-18 a hint", "cmd/onprem-infra/nodeip.go", `[]string{"NODEIP_HINT", "KUBELET_NODEIP_HINT"} {`, `[]string{"KUBELET_NODEIP_HINT"} {`)),
		kept("N-19", "A platform had no unit for the choice, or two.",
			by("cluster", "TestOneNodeIP", assets, "\tb.Unit(units.Fit(p.Flavour().Around)(units.NodeIP(p.KubeletUnit)))\n", "	if p.Platform != spec.VSphere {\n	\tb.Unit(units.Fit(p.Flavour().Around)(units.NodeIP(p.KubeletUnit)))\n	}\n"),
			by("cluster", "TestOneNodeIP", assets, "	addresses(&b, p)\n", "")),
		kept("N-20", "A node that could hold the VIPs was taken for a remote worker.",
			by(room, "TestRemote/the load balancer is the user's", decide, " && !node.UserManaged", ""),
			by(room, "TestRemote/another platform", decide, ` && strings.EqualFold(node.Platform, "baremetal")`, ` && (node.Platform != "" || strings.EqualFold("", node.Platform))`),
			by(room, "TestRemote/the API VIP is local", choice, "out.VIPLocal = out.VIPLocal || hit", "out.VIPLocal = hit")),
		kept("N-21", "A new set of families was missed: IPv6 first, and nobody knew.",
			by("shared/plan", "TestFamiliesFirst", "shared/plan/families.go", "case IPv6, DualStackIPv6:", "case IPv6:"),
			by(addr, "TestForNode/N-21 IPv6 first", network, `== "IPv6") == f.prefer6`, `== "IPv6") != f.prefer6`)),
		kept("N-22", "An interface with a dot in its name, or a kernel without IPv6, was not forwarded.",
			by(room, "TestForward", forward, `link+"/forwarding"`, `link[:5]+"/"+link[6:]+"/forwarding"`),
			by(room, "TestForward/no IPv6 in the kernel", forward, "any = any || there", "any = there")),
		kept("N-23", "An address went after the choice, and kubelet did not say which.",
			by(room, "TestWait/IPv6 is gone", wait, "[]string{Primary, IPv4, IPv6}", "[]string{Primary}")),
		kept("N-24", "The bridge's marker did not come: no directory, another plugin, another order.",
			by(room, "TestWaitForLink/without an address first", wait, "l.Up && holds(l, seen)", "l.Up"),
			by(room, "TestWaitForLink/up from the start", wait, "	_, marked, err := r.host.Read(BrExUp)\n		if err != nil || marked {\n			return err\n		}\n", "	_, marked, err := r.host.Read(BrExUp)\n		if err != nil || !marked {\n			return fmt.Errorf(\"no marker: %v\", err)\n		}\n"),
			by("units", "TestWaits", bridge, "ConditionPathExistsGlob=|/etc/systemd/system/*.wants/ovs-configuration.service\n", "")),
		kept("N-25", "Two addresses where one was understood, and one where two were wanted.",
			by(room, "TestSetWrites/two families", decide, `strings.Join(all, ",")`, "primary")),
		kept("N-26", "A second network of the node's was taken for the cluster's.",
			by(addr, "TestForNode/N-26 the other way round", choice, `f.byNetwork(w.VIPs, "VIP")`, `f.byNetwork(nil, "VIP")`)),
	}
}
