package scars

// judged are what simulate answers and what a journal gives as a reason.
func judged() []Scar {
	const (
		verbs    = "cmd/onprem-infra"
		rows     = "cmd/onprem-infra/simulate_rows.go"
		scenario = "shared/simulate/scenarios.go"
		journal  = "shared/journal/journal.go"
	)
	return []Scar{
		kept("SI-01", "simulate failed for every cluster of four or more control plane nodes: only three of them joined.",
			by(verbs, "TestSimulateAllSizes", scenario, "joins(at+longest, 1, c.Masters)", "joins(at+longest, 1, 3)")),
		kept("SI-02", "With more than five control plane nodes two had one rank, and both took the VIP at once.",
			by("cluster/vip", "TestMoreNodesThanRanks", "cluster/vip/decide.go", "len(e.ladder.Ranks) > 0 && r.place.full", "false")),
		kept("SI-03", "simulate did not see that nodes beyond the last rank take the VIP together: it played five at most.",
			by("shared/simulate", "TestMoreNodesThanRanks", "shared/vrrp/policy.go", "return len(c.Ranks) == 0 || rank < len(c.Ranks)", "return true")),
		kept("SI-04", "simulate printed maxima above their bounds, and no verdict.",
			by(verbs, "TestSimulateBroken", rows, "\tr.OK = len(r.Broken) == 0\n\treturn r\n}\n\n// byChance", "\tr.OK = true\n\treturn r\n}\n\n// byChance")),
		kept("SI-05", "After keepalived was killed the journal blamed a better host, and there was no other host.",
			by("shared/journal", "TestNote", journal, "\tcase j.daemon != daemon{l.Status.PID, l.Status.Restarts}:\n\t\twhy = \"keepalived began anew\"\n", "")),
		kept("SI-06", "A router that was last heard long ago was blamed for a VIP that left today.",
			by("shared/journal", "TestNote", journal, "if l.At.Sub(other.At) >= recent {", "if false {")),
		kept("SI-07", "Without a verb the program said only that it needs one.",
			by(verbs, "TestBare", "cmd/onprem-infra/root.go", "\t\t\tif len(args) == 0 {\n\t\t\t\treturn cmd.Help()\n\t\t\t}\n", "")),
		kept("SI-08", "A table's row did not lead to its picture.",
			by("shared/timeline", "TestPage", "shared/timeline/html.go", "if title != \"\" && t.Title == title {", "if t.Title == \"\" {")),
		kept("SI-09", "Dual holders were in the picture, and nothing pointed at them.",
			by("shared/timeline", "TestBands", "shared/timeline/band.go", "case before < 2 && holders == 2:", "case before < 3 && holders == 3:")),
		kept("SI-10", "Prose was broken at 100 columns in a terminal of 80.",
			by(verbs, "TestFitting", "cmd/onprem-infra/columns.go", "return min(greatestColumns, max(leastColumns, width))", "return usualColumns")),
		kept("SI-11", "status said that all was well while this node's balancer or name server was dead.",
			by(verbs, "TestStatusVerdict", "cmd/onprem-infra/status_look.go", "r.silent.balancer = !errors.Is(err, fs.ErrPermission)", "r.silent.balancer = false")),
	}
}
