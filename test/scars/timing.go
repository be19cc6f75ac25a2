package scars

// timings are what is asked of the timing profiles beside the scars: numbers that hold for every node, waits that add up, and bounds that are kept.
func timings() []Scar {
	const (
		model     = "shared/vrrp"
		policy    = "shared/vrrp/policy.go"
		timing    = "shared/vrrp/timing.go"
		check     = "shared/vrrp/check.go"
		proof     = "shared/vrrp/proof.go"
		plan      = "shared/plan"
		bounds    = "shared/plan/bounds.go"
		bootstrap = "bootstrap/vip"
		decide    = "bootstrap/vip/decide.go"
		nodes     = "cluster/vip"
		elect     = "cluster/vip/decide.go"
	)
	return []Scar{
		kept("M-01", "Ranks, the bonus and health overlapped: a better node lost the VIP, or it moved without need.",
			by(model, "TestRanked", policy, "Ranks: []int{24, 18, 12, 6, 0}, Holder: holder,", "Ranks: []int{24, 18, 12, 6, 0}, Holder: 24,"),
			by(model, "TestProveRejectsRanked/no bonus", proof, `return "no node is such a one", true`, `return "no node is such a one", false`),
			by(model, "TestProveRejectsRanked/a bonus above health", proof, "func(node, node) bool { return true },", "func(b, w node) bool { return b.rank == w.rank && b.holder == w.holder },"),
			by(model, "TestRanked", policy, "controlPlaneWeights(60, 60, 3)", "controlPlaneWeights(60, 57, 3)"),
			by(model, "TestRanked", policy, "ingressWeights(110, 55)", "ingressWeights(105, 55)"),
			by(model, "TestRankedOutcomes", policy, "if c.Holder != 0 {", "if false {")),
		kept("M-02", "Two candidates waited equally long, and both became holder.",
			by(model, "TestCheck", policy, "Ranks: []int{24, 18, 12, 6, 0}", "Ranks: []int{20, 15, 10, 5, 0}"),
			by(model, "TestCheckRefuses/ranks that speak at once", check, "if step <= minStep {", "if step < 0 {"),
			by(model, "TestProveRejectsRanked/a rank twice", "shared/vrrp/validate.go", "adds >= c.Ranks[i-1]", "adds > c.Ranks[i-1]"),
			by(model, "TestSpread", policy, "hash, bytes := fnv.New32a(), node.As16()", "hash, bytes := fnv.New32a(), netip.IPv4Unspecified().As16()"),
			by(model, "TestRank", policy, "case rank < 0 || rank > last:", "case rank > last:")),
		kept("M-03", "Adverts were so frequent that they got lost, or of a version that does not know parts of a second.",
			by(model, "TestCheckRefuses/adverts that get lost", check, "case t.Advert < minAdvert:", "case false:"),
			by(model, "TestProfiles", timing, "Advert: 250 * time.Millisecond, IPv4: V3", "Advert: 250 * time.Millisecond, IPv4: V2")),
		kept("M-04", "What the plan promises is not what happens.",
			by(plan, "TestBounds", timing, "Advert: 100 * time.Millisecond", "Advert: 110 * time.Millisecond"),
			by(plan, "TestBounds", bounds, "worst: c.Serving()", "worst: c.Lowest()"),
			by(plan, "TestBounds", timing, "Reaction = 60 *", "Reaction = 160 *"),
			by(bootstrap, "TestStopKeepsThePlansWord", bounds, "ceilMs(looks) + ceilMs(r.down), 0,", "ceilMs(r.down), 0,"),
			by(plan, "TestLooks", bounds, `add("node's monitor", string(w.Check), timing.Checks[w.Check])`, `add("node's monitor", string(w.Check), timing.Checks[vrrp.CheckLB])`),
			by("test/daemons", "TestWaits", timing, "\treturn 3*advert + Skew(v, p, advert)\n", "\treturn 4*advert + Skew(v, p, advert)\n")),
		kept("M-05", "Who left went before a successor could have come.",
			by("shared/host/supervise", "TestPatience", timing, "return MasterDown(v, 0, advert) + Grace", "return MasterDown(v, 254, advert)")),
		kept("M-06", "A platform had the timing of another, or a word that is none was taken for one.",
			by(plan, "TestCompileDefaults/timing of virtual machines", "shared/plan/defaults.go", "if platform == spec.BareMetal {", "if true {"),
			by(plan, "TestCompileDefaults/timing of machines", "shared/plan/defaults.go", "if platform == spec.BareMetal {", "if false {"),
			by("cmd/onprem-infra", "TestFlagValues", "cmd/onprem-infra/input.go", `completes(cmd, "timing", spec.Timings())`, `completes(cmd, "timing", []string{"compat"})`),
			by("shared/spec", "TestKnobFindings", "shared/spec/settings.go", "\tr.oneOf(s.timing, Timings()...)\n", "")),
		kept("M-07", "A password, a version or an interval was of another profile: keepalived refused it, or nobody heard.",
			by(nodes, "TestNumbersRanked", elect, "if inst.Version == vrrp.V2 {", "if vip.Is4() {"),
			by(bootstrap, "TestDecideProfiles", decide, "if inst.Version == vrrp.V2 {", "if vip.Is4() {"),
			by(nodes, "TestNumbersRanked", elect, "Version: r.plan.Timing.Model.Version(vip)", "Version: vrrp.CompatTiming().Version(vip)"),
			by(bootstrap, "TestDecideProfiles", decide, "p.Timing.Model.Version(vip)", "vrrp.CompatTiming().Version(vip)"),
			by(bootstrap, "TestDecideProfiles", decide, "p.Timing.Model.Advert", "vrrp.CompatTiming().Advert")),
		kept("M-08", "The balancer's looks at its servers were not the profile's.",
			by("cluster/lb", "TestPrepare", "cluster/lb/decide.go", ", Server: r.plan.Timing.Model.Server,", ","),
			by("shared/haproxy", "TestRender", "shared/haproxy/render.go", "c.Inter.Milliseconds(), c.FastInter.Milliseconds(), c.Fall, c.Rise)", "c.FastInter.Milliseconds(), c.Inter.Milliseconds(), c.Fall, c.Rise)"),
			by("shared/haproxy", "TestStates", "shared/haproxy/state.go", "c.Server.Rise+c.Server.Fall-1", "4")),
		kept("M-09", "A node's checks went at the pace of another profile.",
			by(nodes, "TestPolicyOf", "cluster/vip/checks.go", "if policy, ok := t.Checks[check]; ok {", "if policy, ok := vrrp.CompatTiming().Checks[check]; ok {")),
		kept("M-10", "keepalived waited for a processor like everybody else, and its adverts came too late.",
			by("test/podvip", "TestRealTime", "shared/plan/keepalived.go", `append(options, "--real-time")`, "options"),
			by("test/podvip", "TestRealTime", "shared/host/supervise/speaker.go", "if s.RealTime {", "if false {"),
			by(bootstrap, "TestContainer", "shared/plan/keepalived.go", "if p.Timing.Model.RealTime {", "if false {"),
			by("cluster", "TestConfinement", "shared/plan/keepalived.go", "if p.Timing.Model.RealTime {", "if false {")),
		kept("M-11", "keepalived was real-time by its own configuration: after a reload the kernel killed its VRRP process within seconds.",
			by("test/podvip", "TestRealTime", "shared/keepalived/keepalived.conf.tmpl", "    max_auto_priority -1\n", "    max_auto_priority -1\n    vrrp_rt_priority 10\n    vrrp_rlimit_rttime 1000000\n")),
		kept("M-12", "A Node that left soon after another change stayed in the list of candidates for seconds.",
			by("cluster/candidates", "TestFewChangesAtOnce", "cluster/candidates/writer.go", "-(atOnce - 1) * rest", "0 * rest"),
			by("cluster/candidates", "TestStormOfChanges", "cluster/candidates/writer.go", "\tw.rested = w.rested.Add(rest)\n", "")),
		kept("M-13", "The holder lost its power, and watches with it were silent until the kernel's keep-alive.",
			by("shared/host/kube", "TestDialHearsOfLoss", "shared/host/kube/access.go", "Idle: quiet,", "Idle: time.Minute,")),
		kept("M-14", "Who took the VIP had connections with its former holder, and nothing could tell them that it was gone.",
			by("cmd/onprem-supervise", "TestSuccessorsSessions", "shared/host/supervise/loop.go", "s.taken(e.Instance)", "_ = s.taken"),
			by("shared/host/link", "TestSessionsTo", "shared/host/link/session.go", "s.Remote.Addr() == remote && s.Local.Addr() != remote", "s.Remote.Addr() == remote")),
	}
}
