package scars

// machine are what a fresh machine, a busy one and another release of Debian break, beside the scars.
func machine() []Scar {
	const (
		verbs = "cmd/onprem-infra"
		laws  = "test"
		boot  = "test/vm/boot.go"
	)
	return []Scar{
		kept("FM-01", "A test held a number that depends on what the module cache has from other builds.",
			by("test/importer", "TestStranger", "README.md", "is built from 7 modules of others", "is built from 69 modules of others")),
		kept("FM-02", "A claim of a rank was written after the node had settled on another one, which it so gave up.",
			by("cluster/vip", "TestRank", "cluster/vip/apply.go", "\tr.cluster.ClaimRank(d.Claim)\n",
				"\tif d.Claim != (Claim{}) {\n\t\tr.cluster.ClaimRank(d.Claim)\n\t}\n"),
			by(verbs, "TestWithdrawClaim", "cmd/onprem-infra/monitor_vip_annotate.go", "withdraw() { a.last.Store(nil) }", "withdraw() {}")),
		kept("FM-03", "A busy machine kept a request after the prober had forgotten those of its time.",
			by("test/traffic", "TestForget", "test/traffic/probe.go", "p.requests, p.forgot = nil, time.Now()", "p.requests = nil")),
		kept("FM-04", "What else fails on a machine stayed unknown after the first group of tests that failed.",
			by(laws, "TestAll", "test/all", "&& return\n", "&& return\n\texit 1\n"),
			by(laws, "TestAll", "test/all", `echo "$*")$'\n'`, `true)`)),
		kept("FM-05", "The demo did not say where its minutes went.",
			by("test/demo", "TestWhere", "test/demo/show.go", "\tdefer s.took(fmt.Sprintf(\"%2d. %s\", s.scene, title), start)\n", "")),
		kept("FM-06", "Debian 13 was refused as a machine to build and test on.",
			by(laws, "TestSetupKnowsItsReleases", "test/setup", " | 'debian 13, user 0'", ""),
			by("test/vm", "TestSuite", "test/vm/suite.go", `"bookworm", "trixie"}`, `"bookworm"}`)),
		kept("FM-07", "Machines of the lab began otherwise than hardware does: newer systemd let services inherit capabilities, and had a failed unit.",
			by("test/vm", "TestBoot", boot, "setpriv --inh-caps=-all ", ""),
			by("test/vm", "TestLongBoot", boot, " --drop-capability=CAP_SYS_MODULE", "")),
		open("FM-08", "A warning of podman 5 was read as a process number, and the test ended its own process group.",
			"podman 4 gives no such warning: `make fresh SUITE=trixie` runs the test with podman 5"),
	}
}
