package scars

// migrations are what is asked of a live cluster whose nodes change how they speak VRRP, beside the scars.
func migrations() []Scar {
	const (
		room    = "cluster/migrate"
		migrate = "cluster/migrate/migrate.go"
		nodes   = "cluster/vip"
		adopt   = "cluster/vip/adopt.go"
		spec    = "shared/spec"
		plan    = "shared/plan"
		verbs   = "cmd/onprem-infra"
		written = "cmd/onprem-infra/live.go"
		monitor = "cmd/onprem-infra/monitor_vip_migrate.go"
	)
	return []Scar{
		kept("X-01", "A node said a moment of its own, or went over at one that others did not know of.",
			by(room, "TestDecide", migrate, "if len(missing) == 0 || r.clock.near(own(s).Word.At, s.Now) {", "if len(missing) == 0 {")),
		kept("X-02", "A migration that was turned round was half done.",
			by(room, "TestThereAndBack", migrate, "case r.memory.To != wanted:", "case false:"),
			by(room, "TestThereAndBack", migrate, "r.decided() && !now.Before(r.memory.At.Add(r.lag))", "false")),
		kept("X-03", "The holder of a VIP went over out of its turn, and those who waited for it took the VIP.",
			by(room, "TestSlower", migrate, "if s.Holds != r.faster {", "if s.Holds == r.faster {")),
		kept("X-04", "Where nothing migrates something was written.",
			by(room, "TestNothingToMigrate", migrate, "&& !(r.quiet && own(s).Word == (notice.Word{}))", "")),
		kept("X-05", "A bootstrap machine that cannot change was left behind.",
			by(room, "TestDecide", migrate, "\tif s.Guest {", "\tif false {")),
		kept("X-06", "A node on another plan lost its rank, or ran parts of both.",
			by(nodes, "TestAdopt", adopt, "\tif len(r.ranks) == 0 {\n", "\tif false {\n"),
			by(nodes, "TestAdopt", adopt, "r.plan, r.ranks = p, p.VRRP.ControlPlane.Ranks", "r.plan.Timing, r.ranks = p.Timing, p.VRRP.ControlPlane.Ranks"),
			by(nodes, "TestHolds", adopt, "if i.State == supervised.Master {", "if i.State != supervised.Fault {")),
		kept("X-07", "A word on a Node was lost, or half a word was taken for a whole.",
			by("shared/notice", "TestWord", "shared/notice/way.go", ` || dated && w.Knows == ""`, "")),
		kept("X-08", "What a cluster migrates from was not checked, or not read by a node.",
			by(spec, "TestClusterFindings", "shared/spec/former.go", "case pair.wants.ok && pair.wants.value == pair.former.value:", "case false:"),
			by(spec, "TestBefore", "shared/spec/schema.go", "before, before.MigrateFrom = c, Former{}", "before = c"),
			by(plan, "TestMigrates", "shared/plan/compile.go", "p.Former, p.MigrateFrom = &former, former.Way()", "p.MigrateFrom = former.Way()"),
			by(plan, "TestRoundTrip", "shared/plan/encode.go", "\tif f.VRRP != \"\" {", "\tif false {")),
		kept("X-09", "A live cluster was written for without a word, or was not seen to be one.",
			by(plan, "TestLive", "shared/plan/migrate.go", "\tif there.Former != nil && !say.Migrated {", "\tif false {"),
			by(verbs, "TestScript/migrate", written, "\tcase kind == role.Bootstrap && migrates:", "\tcase false && migrates:"),
			by(verbs, "TestScript/migrate", written, "\tcase !nodes && l.say != (plan.Consent{}):", "\tcase false:"),
			by("ignition", "TestFind", "ignition/find.go", ` || f.Contents.Compression != ""`, "")),
		kept("X-10", "A monitor's checks or its memory did not go over, or a node forgot by a new file how it speaks.",
			by(verbs, "TestPaced", monitor, "c.made(t, c.now.Load().Passes)", "c.made(t, func(vrrp.CheckName) bool { return false })"),
			by(verbs, "TestMigrationMemory", monitor, "\t\tlog.Warn(\"read how this node spoke VRRP\", \"file\", migrationPath, \"error\", err)\n", "\t\t_ = log\n"),
			by(plan, "TestResume", "shared/plan/migrate.go", "spoken == wanted.Way().String() {", `spoken != "" {`)),
		kept("X-11", "A live cluster was given another virtual router ID, node by node, and each VIP had two holders.",
			by("shared/plan", "TestLiveIDs", "shared/plan/migrate.go", "if err := sameIDs(there, wanted); err != nil {", "if err := sameIDs(there, there); err != nil {"),
			by("shared/plan", "TestLiveIDs", "shared/plan/migrate.go", "len(r.vips) > 0 && len(r.nexts) > 0", "true")),
	}
}
