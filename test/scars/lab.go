package scars

// labs are what is asked of the lab, of the measurements in it and of its chaos, beside the scars: a fault that was not done, or a figure that
// says something else, proves nothing.
func labs() []Scar {
	const (
		lab     = "test/lab"
		pods    = "test/pods"
		bench   = "test/bench"
		measure = "test/bench/measure.go"
		result  = "test/bench/result.go"
		cut     = "test/lab/cut.go"
		advert  = "test/lab/advert.go"
		life    = "test/life"
		clients = "test/traffic"
		chaos   = "test/chaos"
		rules   = "test/chaos/rules.go"
	)
	return []Scar{
		kept("F-01", "A cut, a loss or a doubling was not what it said.",
			by(lab, "TestCut", cut, "{In, cut{other, h}}", "{In, cut{h, other}}"),
			by(lab, "TestSpoil", "test/lab/line.go", "\t\t\tcopies = 0\n", "\t\t\tcopies = 1\n"),
			by(lab, "TestSpoilCarries", "test/lab/tap.go", "[]int{unix.PACKET_VNET_HDR, unix.PACKET_IGNORE_OUTGOING}", "[]int{unix.PACKET_IGNORE_OUTGOING}"),
			by(lab, "TestSpoilCarries", cut, "return []string{h.port(), h.relayed()}", "return []string{h.port()}")),
		kept("F-02", "Adverts were counted that are none, or on one wire only.",
			by("shared/advert", "TestReadRefuses", "shared/advert/advert.go", "case m[0]&0xf != typeAdvert:", "case m[0]&0xf == 0:"),
			by(lab, "TestAdverts", advert, `strings.HasPrefix(name, "port")`, `strings.HasPrefix(name, "link")`)),
		kept("F-03", "A fault stayed: load, a full disk, processes.",
			by(lab, "TestHog", "test/lab/hog.go", `"--signal=KILL", bound,`, `"--signal=KILL", bound + "h",`),
			by(pods, "TestPods", "test/pods/disk.go", "\treturn n.mount(\"run\")", "\treturn nil"),
			by(pods, "TestPods", "test/pods/process.go", "len(programs) > 0 && !slices.Contains(programs, p.Program)", "len(programs) > 0 && slices.Contains(programs, p.Program)")),
		kept("F-04", "Who was killed left wires, mounts and groups behind.",
			by(lab, "TestOwnerKilled", "test/lab/lab.go", "if err := removeLeftovers(); err != nil {", "if err := error(nil); err != nil {"),
			by(life, "TestLongOwnerKilled", "test/vm/machine.go", ", unmountBelow(m.dir)", ""),
			by(pods, "TestGroupsOfADeadOwner", "test/pods/group.go", "errs = append(errs, removeGroup(path))", "errs = append(errs, nil)")),
		kept("F-05", "A cluster without a bootstrap machine began with the means of its beginning in the way.",
			by(life, "TestAlone", "test/life/start.go", "\tif err := way.close(); err != nil {\n\t\treturn err\n\t}\n\tif err := l.Settled", "\tif err := l.Settled")),
		kept("F-06", "A figure of the bench was another one than it said.",
			by(bench, "TestGaps", measure, "served := all.With(traffic.Served)", "served := all"),
			by(bench, "TestHeld", measure, "\t\tif span.From.Before(at) && len(span.Holders) == 1 {", "\t\tif span.To.Before(at) && len(span.Holders) == 1 {"),
			by(bench, "TestSum", result, "all[(len(all)-1)/2] + all[len(all)/2]", "all[len(all)/2] + all[len(all)/2]"),
			by(bench, "TestDraw", "test/bench/picture.go", "s.figure(sc) > most.figure(sc)", "s.figure(sc) < most.figure(sc)"),
			by(bench, "TestBoundOf", result, "return b.DarkMs", "return b.Ms"),
			by(bench, "TestParse", "test/bench/main.go", `regexp.Compile("^(?:" + *only + ")$")`, `regexp.Compile("(?:" + *only + ")")`),
			by(bench, "TestLateness", "test/bench/load.go", "ok && before.From == a.From", "ok")),
		kept("F-07", "A client kept what was before the fault.",
			by(clients, "TestWatchRenew", "test/traffic/watch.go", "\t\t\tw.cancel[i]()\n", "\t\t\t_ = w.cancel[i]\n"),
			by(clients, "TestProbeFor", "test/traffic/probe.go", "p.requests, p.forgot = nil, time.Now()", "p.requests = p.requests[:len(p.requests)]")),
		kept("F-08", "The judge of the chaos was milder than the rules, or harder.",
			by(chaos, "TestJudge", rules, "> c.Two+c.late+blur", "> c.Two+c.late+2*blur"),
			by(chaos, "TestJudge", rules, "return min(advert.At, limit)", "return limit"),
			by(chaos, "TestJudge", rules, "> c.None+c.late+blur", "> c.None+c.late+2*blur"),
			by(chaos, "TestJudge", rules, "> c.Astray+blur", "> c.Astray+2*blur"),
			by(chaos, "TestJudge", rules, "a.At-b.At < noise", "a.At-b.At < noise-2*time.Millisecond"),
			by(chaos, "TestJudge", rules, " && !c.muffled(span{reign.To - c.Calm, left})", ""),
			by(chaos, "TestJudge", rules, "return len(doubtful) < len(c.Nodes)", "return true"),
			by(chaos, "TestJudge/two, the better of whom cannot have forgotten the other", rules, "s.length() >= forgets", "s.length() >= 0"),
			by(chaos, "TestJudge/two who did not hear each other for long, by two faults", "test/chaos/span.go", "s.from <= all[n-1].to {", "s.from < 0 {"),
			by(chaos, "TestTakes", "test/chaos/watch.go", "!known && a.At-adverts[0].At < pause", "false")),
		kept("F-09", "A schedule by chance could not be written and read again.",
			by(chaos, "TestRandom", "shared/simulate/fault.go", " && !slices.Contains(labKinds(), f.Kind)", "")),
	}
}
