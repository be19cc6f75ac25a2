package scars

func part2() []Scar {
	const (
		nodes   = "cluster/vip"
		decide  = "cluster/vip/decide.go"
		learn   = "cluster/vip/learn.go"
		apply   = "cluster/vip/apply.go"
		lone    = "if !r.plan.Elects(len(members)) {"
		none    = "\tif len(inst.Peers) == 0 {\n\t\tinst.Peers"
		named   = "if s.Nodes.OK && slices.ContainsFunc(s.Nodes.Is, func(n Node) bool { return n.ControlPlane }) {"
		migrate = "cluster/migrate/migrate.go"
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
			by("cluster/candidates", "TestReader", "cluster/candidates/reader.go", "\t\tif r.says {\n", "\t\tif !r.says {\n\t\t\tr.known, r.list = false, nil\n\t\t} else {\n"),
			by("cluster/lb", "TestMembersWithoutTheAPI", "cluster/lb/decide.go", "if !s.Synced || len(known(slots)) == 0 {", "if !s.Synced {"),
			by("cluster/candidates", "TestReader_Former", "cluster/candidates/reader.go", "\tif r.refused != nil {\n", "\tif r.refused != nil {\n\t\tr.list = nil\n")),
		kept("K-24", "A node that had failed to join fought for the VIP alone.",
			by(nodes, "TestMembers", decide, "if !slices.Contains(members, inst.Source) {", "if false {"),
			by(nodes, "TestMembers", learn, "return plain(ControlPlane(r.memory.Nodes))", "return plain(r.memory.Nodes)")),
		kept("K-25", "While the API was away nobody looked at the balancer, and a node without one kept the VIP.",
			by(nodes, "TestLocalFirst", "cluster/vip/observe.go", "\tif err := r.live(); err != nil {\n\t\treturn Snapshot{}, err\n\t}\n\ts := Snapshot{", "\ts := Snapshot{"),
			by(nodes, "TestChecksRiseAndFall", "cluster/vip/checks.go", "now := state{latch: was.latch.Next(f.found, policy)", "now := state{latch: was.latch"),
			by("cluster/lb", "TestFaultsApart", "cluster/lb/decide.go", "\ts.Before = r.slots\n\treturn s, nil", "\ts.Before = r.slots\n\treturn s, s.Fault")),
		kept("K-26", "Nodes changed from multicast to unicast before all of them had been updated.",
			by("cluster/migrate", "TestUpgrading", migrate, `if n.State != "" && n.State != done {`, `if n.ControlPlane && n.State != "" && n.State != done {`),
			by("cluster/migrate", "TestOneInstant", migrate, "n.Word.Speaks == r.wanted.String() {", "n.Word.Knows == r.wanted.String() {"),
			by("cluster/migrate", "TestDecide", migrate, "&& len(r.others(s, word)) == 0 {", "{"),
			by("shared/plan", "TestLive", "shared/plan/migrate.go", "\tcase !say.Migrate:\n", "\tcase false:\n")),
		kept("K-27", "An update counted as over that was not: other roles, or one role for all.",
			by("cluster/migrate", "TestUpgrading", migrate, `if n.State != "" && n.State != done {`, `if n.State == "Working" {`),
			by("shared/host/kube", "TestSlimNode", "shared/host/kube/node.go", "notice.BootstrapGone, machineState}", "notice.BootstrapGone}")),
		kept("K-28", "Pools that paused had an older kubelet, and only some nodes changed.",
			by("cluster/migrate", "TestUpgrading", migrate, "if len(kubelets) > 1 {", "if len(kubelets) > 2 {")),
		kept("K-29", "Nodes changed at different instants, each by the time of its own start.",
			by("cluster/migrate", "TestNext", migrate, "next := soonest.Truncate(c.Every)", "next := soonest"),
			by("cluster/migrate", "TestDecide", migrate, "\t\t\tat = n.Word.At\n", "")),
		kept("K-30", "What had been applied was never noted, and keepalived was reloaded for ever.",
			by(nodes, "TestOnce", apply, "\t\tr.proposed = config\n", ""),
			by("bootstrap/vip", "TestApply", "bootstrap/vip/apply.go", "\t\tr.proposed = config\n", "")),
		kept("K-31", "The bootstrap machine and a new master knew of each other late, and both held the VIP.",
			by("shared/host/kube", "TestSeenSoonAfterTheAPIComesUp", "shared/host/kube/follow.go", "next := time.NewTimer(pace)", "next := time.NewTimer(30 * time.Second)"),
			by(nodes, "TestGuest", decide, "len(guests) > 0 {", "len(guests) > 9 {")),
		kept("K-32", "The file that enabled the migration was on some nodes only.",
			by("cluster/migrate", "TestDecide", migrate, "if !n.Apart && n.Word.Knows != r.wanted.String() {", "if n.ControlPlane && n.Word.Knows != r.wanted.String() {"),
			by("cluster", "TestMatrix/worker", "cluster/assets.go", "\tif runs.VIP && !runs.Disabled {\n", "\tif runs.LB && !runs.Disabled {\n")),
	}
}
