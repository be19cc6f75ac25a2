package scars

func part2() []Scar {
	const (
		nodes     = "cluster/vip"
		decide    = "cluster/vip/decide.go"
		learn     = "cluster/vip/learn.go"
		apply     = "cluster/vip/apply.go"
		lone      = "if !r.plan.Elects(len(members)) {"
		none      = "\tif len(inst.Peers) == 0 {\n\t\tinst.Peers"
		named     = "if s.Nodes.OK && slices.ContainsFunc(s.Nodes.Is, func(n Node) bool { return n.ControlPlane }) {"
		migration = "No cluster migrates from one mode to the other: the mode is one value that a cluster has from its first day."
	)
	return []Scar{
		kept("K-22", "A node without peers spoke multicast, and two held the VIP.",
			by(nodes, "TestEveryNumberOfNodes", decide, lone, "if false {"),
			by(nodes, "TestEveryNumberOfNodes", decide, none, "\tif false {\n\t\tinst.Peers"),
			by("bootstrap/vip", "TestDecide/K-22: no node known: the group is the peer", "bootstrap/vip/decide.go", "inst.Peers = []netip.Addr{keepalived.Group(vip)}", "_ = keepalived.Group(vip)")),
		kept("K-23", "The API was away, and a list of nobody took every peer away.",
			by(nodes, "TestAPIAway", learn, named, "if s.Nodes.OK {"),
			by(nodes, "TestAPIAway", apply, "\tif m.equal(r.kept) {", "\tif true || m.equal(r.kept) {"),
			by(nodes, "TestAPIAway", "cluster/vip/vip.go", "`json:\"nodes\"`", "`json:\"-\"`"),
			by("shared/host/kube", "TestFaultsEmptyNothing/forgotten, and an empty list", "shared/host/kube/source.go", `list.GetResourceVersion() == ""`, `list.GetResourceVersion() == "none"`),
			by("shared/host/kube", "TestFaultsEmptyNothing/forgotten, and a list of something else", "shared/host/kube/source.go", "!s.isList(object) || ", ""),
			by("cluster/candidates", "TestReader", "cluster/candidates/reader.go", "\tif err != nil {\n\t\tr.fault", "\tif err != nil {\n\t\tr.data, r.list = nil, nil\n\t\tr.fault"),
			by("cluster/lb", "TestMembersWithoutTheAPI", "cluster/lb/decide.go", "if !s.Synced || len(known(slots)) == 0 {", "if !s.Synced {"),
			by("cluster/candidates", "TestReader", "cluster/candidates/reader.go", "\t\treturn false, r.fault\n\t}\n\tchanged", "\t\tr.list = nil\n\t\treturn false, r.fault\n\t}\n\tchanged")),
		kept("K-24", "A node that had failed to join fought for the VIP alone.",
			by(nodes, "TestMembers", decide, "if !slices.Contains(members, inst.Source) {", "if false {"),
			by(nodes, "TestMembers", learn, "return !n.ControlPlane }))", "return n.ControlPlane && false }))")),
		kept("K-25", "While the API was away nobody looked at the balancer, and a node without one kept the VIP.",
			by(nodes, "TestLocalFirst", "cluster/vip/observe.go", "\tif err := r.live(); err != nil {\n\t\treturn Snapshot{}, err\n\t}\n\ts := Snapshot{", "\ts := Snapshot{"),
			by(nodes, "TestChecksRiseAndFall", "cluster/vip/checks.go", "now := state{latch: was.latch.Next(f.found, policy)", "now := state{latch: was.latch"),
			by("cluster/lb", "TestFaultsApart", "cluster/lb/decide.go", "\ts.Before = r.slots\n\treturn s, nil", "\ts.Before = r.slots\n\treturn s, s.Fault")),
		open("K-26", "Nodes changed from multicast to unicast before all of them had been updated.", migration),
		open("K-27", "An update counted as over that was not: other roles, or one role for all.", migration),
		open("K-28", "Pools that paused had an older kubelet, and only some nodes changed.", migration),
		open("K-29", "Nodes changed at different instants, each by the time of its own start.", migration),
		kept("K-30", "What had been applied was never noted, and keepalived was reloaded for ever.",
			by(nodes, "TestOnce", apply, "\t\tr.proposed = config\n", ""),
			by("bootstrap/vip", "TestApply", "bootstrap/vip/apply.go", "\t\tr.proposed = config\n", "")),
		kept("K-31", "The bootstrap machine and a new master knew of each other late, and both held the VIP.",
			by("shared/host/kube", "TestSeenSoonAfterTheAPIComesUp", "shared/host/kube/follow.go", "next := time.NewTimer(pace)", "next := time.NewTimer(30 * time.Second)"),
			by(nodes, "TestGuest", decide, "len(guests) > 0 {", "len(guests) > 9 {")),
		partly("K-32", "The file that enabled the migration was on some nodes only.", migration+" Kept is that what goes with the VIPs is on every node that may hold one.",
			by("cluster", "TestMatrix/worker", "cluster/assets.go", "\tif runs.VIP && !runs.Disabled {\n", "\tif runs.LB && !runs.Disabled {\n")),
	}
}
