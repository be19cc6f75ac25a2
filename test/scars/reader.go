package scars

// met is what somebody meets who knows no more than README says, and mistypes.
func met() []Scar {
	return []Scar{
		kept("RD-01", "Long addresses made status wider than a terminal.",
			by("cmd/onprem-infra", "TestStatusFitsATerminal", "cmd/onprem-infra/table.go", "\tif column+room > columns() {", "\tif false {")),
		kept("RD-02", "A terminal broke what was wrong within a word, or a program got it in several lines.",
			by("cmd/onprem-infra", "TestSay", "cmd/onprem-infra/say.go", "\tif terminal.Is(w) {", "\tif terminal.Is(w) && false {"),
			by("cmd/onprem-infra", "TestSay", "cmd/onprem-infra/say.go", "\tif terminal.Is(w) {", "\tif terminal.Is(w) || true {")),
		kept("RD-03", "Who mistyped a verb, a flag or a scenario had to look for the right one in a list, or was told nothing.",
			by("cmd/onprem-infra", "TestWrong", "cmd/onprem-infra/root.go", "near.Word(args[0], names)", "near.Word(\"\", names)"),
			by("cmd/onprem-infra", "TestWrong", "cmd/onprem-infra/root.go", "\troot.SetFlagErrorFunc(wrongFlag)\n", ""),
			by("cmd/onprem-infra", "TestWrong", "cmd/onprem-infra/simulate.go", "near.Word(args[0], scenarioNames())", "near.Word(\"\", scenarioNames())")),
		kept("RD-04", "A word too many or too few after a verb was answered in the words of a library.",
			by("cmd/onprem-infra", "TestWrong", "cmd/onprem-infra/root.go", "\ttellWrong(root)\n", "")),
		kept("RD-05", "Who mistyped a field was given all the fields to read.",
			by("shared/spec", "TestClusterFindings", "shared/spec/clusteryaml.go", "case near.Word(name, known) != \"\":", "case false:")),
		kept("RD-06", "A file that could not be written was named by a name that nobody had given.",
			by("cmd/onprem-infra", "TestWrong", "shared/host/output/document.go", "because(p.Path, file.Write(p.Path, data, 0o644))", "file.Write(p.Path, data, 0o644)")),
		kept("RD-07", "A digest, or the address of a request, made doctor wider than a terminal.",
			by("cmd/onprem-infra", "TestDoctorFitsATerminal", "shared/doctor/before.go", "shortened(i.Reference)", "i.Reference"),
			by("cmd/onprem-infra", "TestDoctorFitsATerminal", "cmd/onprem-infra/status_look.go", "\tif !errors.As(err, &request) {", "\tif true {")),
		kept("RD-08", "An example, or what make says of itself, was wider than a terminal.",
			by("cmd/onprem-infra", "TestExamplesFitATerminal", "cmd/onprem-infra/examples/cluster.yaml.tmpl", "# names end in NAME.DOMAIN:", "# the names of the cluster end in NAME.DOMAIN:"),
			by("cmd/onprem-infra", "TestMakeHelpFitsATerminal", "Makefile", "## what each failure costs the clients;", "## what each failure costs the clients, in each of the timing profiles;")),
		kept("RD-09", "Nothing installed the manual pages and the completion.",
			by("cmd/onprem-infra", "TestInstall", "Makefile", "\t$(BIN)/onprem-infra man --out $(DESTDIR)$(PREFIX)/share/man/man1\n", ""),
			by("cmd/onprem-infra", "TestInstall", "Makefile", "\t$(BIN)/onprem-infra completion fish >", "\t$(BIN)/onprem-infra completion bash >")),
	}
}
