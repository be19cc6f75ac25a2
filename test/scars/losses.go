package scars

// losses are what an operator lost or misread at the command line.
func losses() []Scar {
	const cmd = "cmd/onprem-infra"
	return []Scar{
		kept("OP-01", "Keys of the JSON output were spelt in two ways, min_ms beside ageMs.",
			by(cmd, "TestKeys_AreInCamelCase", "cmd/onprem-infra/simulate_rows.go",
				"`json:\"minMs\"`", "`json:\"min_ms\"`")),
		kept("OP-02", "An output that was one of the inputs was written over it: the description, the journals.",
			by(cmd, "TestScript/output", "shared/host/output/output.go", "err == nil && os.SameFile(read, info)", "false && os.SameFile(read, info)"),
			by("shared/host/output", "TestTree_Refuses", "shared/host/output/output.go", "err == nil && os.SameFile(read, info)", "false && os.SameFile(read, info)")),
		kept("OP-03", "A file of another program was written over in silence.",
			by(cmd, "TestScript/output", "shared/host/output/output.go", "len(have) > 0 && !p.Force && !ours(have)", "false"),
			by("shared/host/output", "TestTree_Refuses", "shared/host/output/tree.go", "if len(foreign.Paths) > 0 {", "if false {")),
		kept("OP-04", "render over the tree of another role left that role's pods beside the new ones.",
			by(cmd, "TestScript/prune", "cmd/onprem-infra/render.go", "if len(leave) > 0 && !prune {", "if false {"),
			by("shared/host/output", "TestTree_Outcomes", "shared/host/output/tree.go", "range slices.Sorted(slices.Values(leave)) {", "range slices.Sorted(slices.Values(leave[:0])) {")),
		kept("OP-05", "diff reported of a pod that goes on running that no process is affected.",
			by("shared/drift", "TestCompare/what another plan gives", "shared/drift/leftover.go", "haproxy.yaml\", level: MayMove", "haproxy.yaml\", level: Nothing")),
		kept("OP-06", "-o was a format for one verb and a file for another.",
			by(cmd, "TestScript/format", "cmd/onprem-infra/output.go", "case slices.Contains(forms, value):", "case value == forms[0]:"),
			by(cmd, "TestScript/format", "cmd/onprem-infra/output.go", "\tw.place.Path = value\n", "\t_ = value\n")),
		kept("OP-07", "Nothing told what would be written, or what had been.",
			by("shared/host/output", "TestTree_Outcomes", "shared/host/output/tree.go", "\tif p.DryRun {\n\t\treturn done, nil\n", "\tif false {\n\t\treturn done, nil\n"),
			by(cmd, "TestScript/output", "cmd/onprem-infra/output.go", "\tif w.quiet {", "\tif true {")),
		kept("OP-08", "plan printed 449 lines, of which an operator compares a few.",
			by(cmd, "TestPlanSummary", "cmd/onprem-infra/plan.go", `"output", "o", "text", "text for a summary`, `"output", "o", "yaml", "text for a summary`)),
		kept("OP-09", "status had no verdict, and ended with 0 when no host answered for a VIP.",
			by("shared/judge", "TestOf", "shared/judge/judge.go", "\t\tcase v.Nobody:\n", "\t\tcase false:\n"),
			by(cmd, "TestStatusVerdict", "cmd/onprem-infra/status_verdict.go", "\treturn negative(nil)\n", "\treturn nil\n"),
			by(cmd, "TestStatusVerdict", "cmd/onprem-infra/status_verdict.go", "Reached: v.near || !links", "Reached: v.near")),
		kept("OP-10", "status asked one host and one program after the other, and took 2.7 s.",
			by(cmd, "TestStatus_LooksSideBySide", "cmd/onprem-infra/status_look.go", "all.Go(func() { look(ctx, &seen[i]) })", "look(ctx, &seen[i])"),
			by(cmd, "TestStatus_LooksSideBySide", "cmd/onprem-infra/status_look.go", "all.Go(func() { failed[i] = l.holder(ctx, &r.VIPs[i]) })", "failed[i] = l.holder(ctx, &r.VIPs[i])")),
		kept("OP-11", "status gave times without their age.",
			by(cmd, "TestStatusText", "cmd/onprem-infra/status_text.go", "(%s)\", t.Format(time.DateTime+\"Z\"), age(now.Sub(t)))", "%.0s\", t.Format(time.DateTime+\"Z\"), age(now.Sub(t)))")),
		kept("OP-12", "A wrong value of a flag was a finding, and a host without a cluster's file had three exit codes.",
			by(cmd, "TestScript/usage", "cmd/onprem-infra/input.go", "if f.Severity == spec.Error && slices.Contains(findings, f) {", "if false {"),
			by(cmd, "TestDoctorUsage", "cmd/onprem-infra/doctor.go", "return nil, fmt.Errorf(\"this host has no", "return nil, usage(\"this host has no")),
	}
}
