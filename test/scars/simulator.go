package scars

// simulated are what is asked of the simulator and of the pictures, beside the scars: that they do as real keepalived does, and that nothing
// which breaks stays unseen.
func simulated() []Scar {
	const (
		room       = "shared/simulate"
		router     = "shared/simulate/router.go"
		supervisor = "shared/simulate/supervisor.go"
		rules      = "shared/simulate/rules.go"
		pictures   = "shared/timeline"
		draw       = "shared/timeline/draw.go"
		verbs      = "cmd/onprem-infra"
		rows       = "cmd/onprem-infra/simulate_rows.go"
	)
	return []Scar{
		kept("S-01", "A simulated router counted otherwise than keepalived.",
			by(room, "TestBackup", router, "\t\tr.down = max(0, r.due-w.now)\n\t\treturn // the timer is set to what it is\n", "\t\tr.down = w.masterDown(r)\n"),
			by(room, "TestBackup", router, "\t\tr.down = vrrp.Skew(w.Version, vrrp.Priority(r.priority), w.Timing.Advert)\n", "\t\tr.down = w.masterDown(r)\n"),
			by(room, "TestMaster", router, "\t\tw.leaveMaster(h, backup)\n\t\tw.arm(h, r.down)\n", "\t\tw.arm(h, r.down)\n"),
			by(room, "TestMaster", router, "\tw.advertise(h, r.priority) // in each of the cases\n", ""),
			by(room, "TestPriorityChange", router, "\t\tw.arm(h, max(0, r.due-w.now+r.down-former))\n", "\t\tw.arm(h, max(0, r.due-w.now+0*(r.down-former)))\n")),
		kept("S-02", "A simulated supervisor left without waiting, only sank, or left a VIP behind.",
			by(room, "TestFarewells", supervisor, "\tif !r.runs || r.state != master || atOnce {\n", "\tif r != nil {\n"),
			by(room, "TestRandom", supervisor, "\tif gen == h.router.adding && h.on {\n\t\tw.setVIP(h, false)\n\t}\n", ""),
			by(room, "TestScenarios", "shared/simulate/health.go", "\t\tif was && (k.Check == vrrp.CheckBoth ||", "\t\tif !was && (k.Check == vrrp.CheckBoth ||"),
			by(room, "TestRandom", "shared/simulate/act.go", "\t\t\tw.setVIP(h, false) // an earlier one may have left it\n", "")),
		kept("S-03", "The gate, the bonus or the ranks were out, and no run found it.",
			by(room, "TestRandom", "shared/simulate/gate.go", "return (h.served || w.Ungated) && w.elects(h)", "return w.elects(h)"),
			by(room, "TestRandom", supervisor, "h.supervisor.bonus*c.Holder\n", "min(0, h.supervisor.bonus)*c.Holder\n"),
			by(room, "TestRandom", "shared/simulate/host.go", "\t\th.sort, h.rank = isMaster, n\n", "\t\th.sort, h.rank = isMaster, 0\n")),
		kept("S-04", "A rule was not looked at: everything was well.",
			by(room, "TestDefects", rules, "\tif h.sort == isMaster && w.Kind != vrrp.Ingress && !h.served {\n", "\tif false {\n"),
			by(room, "TestDefects", rules, "w.worth(g) >= w.worth(h):\n", "w.worth(g) > w.worth(h)+1000:\n"),
			by(room, "TestFigures", "shared/simulate/scenario.go", "\t\tif q.Outcome != Served {\n\t\t\tcontinue\n\t\t}\n\t\tif last", "\t\tif last")),
		kept("S-05", "The simulated bootstrap machine left by a logic of its own.",
			by(room, "TestRelease", "shared/simulate/release.go", "\tcase api == health.ShuttingDown && heir:\n", "\tcase api == health.ShuttingDown:\n")),
		kept("S-06", "A simulated balancer believed a server that hangs.",
			by(room, "TestHang", "shared/simulate/balancer.go", "\tif b.run >= enough {\n", "\tif b.run > enough {\n")),
		kept("S-07", "A run could not be played again.",
			by(room, "TestScheduleText", "shared/simulate/fault.go", "\t\ttext += fmt.Sprintf(\" %d\", f.Amount)\n", ""),
			by(room, "TestQueue", "shared/simulate/queue.go", "a.at < b.at || a.at == b.at && a.order < b.order", "a.at < b.at || a.at == b.at && a.order > b.order"),
			by(room, "TestEqual", "shared/simulate/simulate.go", "rand.New(rand.NewPCG(s.Seed, 0x6f6e7072656d))", "rand.New(rand.NewPCG(rand.Uint64(), 0x6f6e7072656d))")),
		kept("S-08", "A picture hid what happened, or could not be read.",
			by(pictures, "TestPoints", "shared/timeline/lane.go", "weight(p.Tone) > weight(columns[x])", `columns[x] == ""`),
			by(pictures, "TestMarks", draw, "\t\tfor row < len(ends) && ends[row] > from {\n\t\t\trow++\n\t\t}\n", ""),
			by(pictures, "TestCurve", draw, "\t\t\tc.top = max(c.top, float64(s.Value))\n", "\t\t\tc.top = float64(s.Value)\n"),
			by(pictures, "TestSpans", draw, "min(1, max(0, part))", "part")),
		kept("S-09", "A name became markup of the picture.",
			by(pictures, "TestSelf", draw, "anchor, style, html.EscapeString(text))", "anchor, style, text)")),
		kept("S-10", "The verb was content where a rule or a bound broke, or played less than the plan promises.",
			by(verbs, "TestSimulateBroken", rows, "\t\tbroken = broken || !r.OK\n", ""),
			by(verbs, "TestSimulateBroken", rows, "r.Max > most {", "r.Max > 10*most {"),
			by(verbs, "TestSimulateBounds", "shared/simulate/scenarios.go", "\t\t{Name: \"lb-hang\",", "\t\t{Name: \"lb-hung\",")),
	}
}
