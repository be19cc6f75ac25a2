package scars

// ranks are what is asked of the order among candidates, and of the holder's bonus, beside the scars.
func ranks() []Scar {
	const (
		supervise = "cmd/onprem-supervise"
		host      = "shared/host/supervise"
		bonus     = "shared/host/supervise/bonus.go"
		nodes     = "cluster/vip"
		rank      = "cluster/vip/rank.go"
		observe   = "cluster/vip/observe.go"
		unserved  = "shared/host/supervise/unserved.go"
		filter    = "shared/host/nft"
		memo      = "shared/host/nft/generation.go"
		model     = "shared/vrrp"
		simulate  = "shared/simulate"
		simulator = "shared/simulate/supervisor.go"
		verbs     = "cmd/onprem-infra"
		probe     = "cmd/onprem-infra/monitor_vip_probe.go"
		pods      = "test/podvip"
	)
	return []Scar{
		kept("O-01", "A better node came back, and took the VIP from one who served it.",
			by(supervise, "TestHolderKeepsItsVIP", bonus, "\tcase w.master:\n\t\treturn yes", "\tcase w.master:\n\t\treturn no"),
			by(pods, "TestRanked", bonus, "\tcase w.master:\n\t\treturn yes", "\tcase w.master:\n\t\treturn no"),
			by("test/handover", "TestRanked", bonus, "\tcase w.master:\n\t\treturn yes", "\tcase w.master:\n\t\treturn no"),
			by(supervise, "TestReloadKeepsTheVIP", bonus, "\tcase w.master:\n\t\treturn yes", "\tcase w.master:\n\t\treturn no")),
		kept("O-02", "A bonus of an earlier run counted, or another file was taken for it.",
			by(supervise, "TestHolderKeepsItsVIP", bonus, "\tfor name := range s.order.bonus {\n\t\t_, err", "\tfor name := range s.order.bonus {\n\t\tif !s.stances[name].master {\n\t\t\tcontinue\n\t\t}\n\t\t_, err"),
			by(host, "TestReadOrder", "shared/host/supervise/order.go", "filepath.Base(dir) == supervised.HolderDir", "filepath.Base(dir) == supervised.TrackDir")),
		kept("O-03", "Who had just been started took the VIP before the holder's bonus was heard.",
			by(supervise, "TestRestartedDoesNotPreempt", bonus, "\tdefault:\n\t\treturn begins\n", "\tdefault:\n\t\treturn no\n"),
			by(host, "TestStance", bonus, "case w.held, !end.IsZero()", "case w.held, w.waits.IsZero(), !end.IsZero()"),
			by(simulate, "TestBonus", simulator, "\tbegins = -1 ", "\tbegins = 0 "),
			by(simulate, "TestBonus", simulator, "\t\tcase s.held:\n\t\t\ts.bonus = 0\n", "\t\tcase s.held:\n\t\t\ts.bonus = begins\n")),
		kept("O-04", "An election passed unheard, because a configuration was tested meanwhile.",
			by(supervise, "TestElectionDuringATest", "shared/host/supervise/candidate.go", "\t\tcase line := <-s.lines: // an election does not wait for a test\n\t\t\ts.heard(line)\n\t\t\tcontinue\n", "")),
		kept("O-05", "A signal stopped keepalived for a moment, and others missed its adverts.",
			by(supervise, "TestStoppedIsNotMissed", "shared/host/supervise/speaker.go", "\ts.servants.Go(func() { s.glance(d, speaker, gone) })\n", "")),
		kept("O-06", "Two nodes had one rank.",
			by(nodes, "TestPlaced", rank, "elders[rank] || n.elder(me)", "elders[rank] || false"),
			by(nodes, "TestRanksConverge", rank, "\t\tothers[rank] = true\n", "\t\tothers[rank] = n.elder(me)\n"),
			by(verbs, "TestClaimRank", rank, "elders[rank] || n.elder(me)", "elders[rank] || false")),
		kept("O-07", "A rank changed without need: others joined or left, the node began anew, the API was away.",
			by(nodes, "TestRank", rank, "\t\tp.rank = mine\n", "\t\tp.rank = i\n"),
			by(nodes, "TestRank", rank, "\tp.rank, p.free = former, former\n", "\tp.free = former\n"),
			by(nodes, "TestRank", "cluster/vip/vip.go", "`json:\"rank,omitempty\"` // that", "`json:\"-\"` // that"),
			by(nodes, "TestRank", rank, "r.place.free == noRank || !r.named", "r.place.free == noRank"),
			by(pods, "TestRanked", rank, "\tif r.place.free == noRank || !r.named {", "\tif true {")),
		kept("O-08", "A node took itself for another one: by a VIP, by its former name, by what a network plugin had seen there.",
			by(nodes, "TestItself", rank, `me.Name == "" || me.elder(n)`, `me.Name == ""`),
			by(nodes, "TestItself", rank, "own[a.Prefix.Addr()] = !slices.Contains(vips, a.Prefix.Addr())", "own[a.Prefix.Addr()] = true"),
			by(nodes, "TestSelf", rank, `return n.InternalIPs }); me.Name != "" {`, `return n.InternalIPs }); me.Name == "-" {`)),
		kept("O-09", "An instance followed another one's bonus, or had the spread of another address.",
			by(nodes, "TestHolderTracks", "cluster/vip/decide.go", "slices.Concat(checks, r.bonus(e, stands[0].Name, c))", "slices.Concat(checks, r.bonus(e, stands[0].Name, c), r.bonus(e, stands[1].Name, c))"),
			by(nodes, "TestHolderTracks", rank, "e.ladder.Candidates().Spread(choice.Address)", "e.ladder.Candidates().Spread(choice.Address.Next())")),
		kept("O-10", "Under compat there were ranks, or other farewells than today's.",
			by(nodes, "TestCompatHasNoRanks", rank, "\tif e.ladder.Holder == 0 {", "\tif e.ladder.Holder < 0 {"),
			by(nodes, "TestUnserved", observe, "|| r.plan.VRRP.ControlPlane.Holder == 0 ", "")),
		kept("O-11", "A rank could not be written or read, or something else was read as one.",
			by("test/kubeapi", "TestAccess", "shared/host/kube/annotate.go", `"annotations": map`, `"labels": map`),
			by("shared/host/kube", "TestSlimNode", "shared/host/kube/node.go", "hosts, notice.Rank, ", "hosts, "),
			by("shared/notice", "TestReadRank", "shared/notice/rank.go", " || EncodeRank(rank) != text", "")),
		kept("O-12", "A holder that served nothing only sank, and the VIP was away for a whole wait.",
			by(supervise, "TestUnserved", bonus, "\tcase w.quits:\n\t\treturn quits\n", ""),
			by(host, "TestStance", bonus, ", quits: w.quits}", "}"),
			by(nodes, "TestUnserved", observe, "r.health.Passes(vrrp.CheckBoth)", "r.health.Passes(vrrp.CheckLB)"),
			by(verbs, "TestLookPastABalancerThatHangs", probe, "return time.Until(end) / 3", "return time.Until(end)")),
		kept("O-13", "Nothing served anywhere, and the VIP went round for ever.",
			by(supervise, "TestUnservedAlone", unserved, "if s.unserved[name] || !s", "if !s"),
			by(nodes, "TestUnserved", observe, "|| len(r.controlPlane()) < 2 ", ""),
			by(pods, "TestRanked", unserved, "if s.unserved[name] || !s", "if !s")),
		kept("O-14", "Each look read all rules of the packet filter and asked the balancer twice, or an old answer was believed.",
			by(verbs, "TestLookOnce", probe, "if time.Since(n.look.at) >= fresh {", "if true {"),
			by(filter, "TestMemo", memo, "m.known && m.at == now && ", "m.known && "),
			by(filter, "TestMemoRefused", memo, "\tnow, err := generation()\n\tif err != nil {\n\t\treturn false, err", "\tnow, err := generation()\n\tif err != nil {\n\t\treturn m.present, nil"),
			by(filter, "TestMemo", memo, "reflect.DeepEqual(m.rules, r) {", "reflect.DeepEqual(m.rules, m.rules) {")),
		kept("O-15", "Nodes that had just begun, on which nothing worked yet, had one priority, and took the VIP together.",
			by(model, "TestProveRejectsRanked/a base that the bonus takes away", "shared/vrrp/validate.go", "c.Holder > 0 && begins <", "c.Holder < 0 && begins <"),
			by(model, "TestRanked", "shared/vrrp/policy.go", "base, holder = 31, 30", "base, holder = 30, 30"),
			by(simulate, "TestBeginTogether", "shared/simulate/rules.go", "return undisturbed(a) && undisturbed(b) &&", "return a.priority > 1 && undisturbed(a) && undisturbed(b) &&")),
	}
}
