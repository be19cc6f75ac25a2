package scars

// registries is what is asked of pulls, beside the scars: what a registry does ends in an image or in one line, and never in a unit that gave up.
func registries() []Scar {
	const (
		install = "units/onprem-install"
		image   = "shared/host/podman/image.go"
		pull    = "shared/host/podman/pull.go"
		pulls   = "bootstrap/daemon/pull.go"
		news    = "shared/loop/news.go"
		kinds   = "shared/loop/shape.go"
		delays  = "bootstrap/daemon/backoff.go"
		forgets = "return now.Sub(last.at) >= forgetAfter && n.number-last.trial >= n.trials"
		shaped  = "key := shape(text)"
		doubled = "min(max(2*b.delay, firstDelay), limit)"
		slower  = "delay < 16 ? delay * 2 : 30"
		failed  = `return fmt.Errorf("pull image %s: %w", image, known.explain(oneLine(err)))`
		arrives = "-lt 65536"
		advised = `problem=$(advice "$problem")$problem`
		kind    = `kind=$(shape "$problem")`
	)
	return []Scar{
		kept("G-01", "A registry that was away for hours filled the log: each trial named another port, time or temporary file.",
			by("bootstrap/daemon", "TestRegistryAwayForHours", news, shaped, "key := text"),
			by("shared/loop", "TestFaultIsLoggedOnceForEachWayThatItShowsItself/other numbers each time", news, shaped, "key := text"),
			by("bootstrap", "TestInstallWaitsForHours", install, kind, `kind==$problem`)),
		kept("G-02", "A fault that shows itself now this way and now that was logged at each turn, or never again.",
			by("shared/loop", "TestFaultIsLoggedOnceForEachWayThatItShowsItself/two ways by turns", news, forgets, "return true"),
			by("shared/loop", "TestFaultIsLoggedOnceForEachWayThatItShowsItself/two ways, each for ten minutes", news, forgets, "return false"),
			by("shared/loop", "TestErrorsOfLongTrialsAreOneNews/two ways", news, " && n.number-last.trial >= n.trials", ""),
			by("bootstrap", "TestInstallTellsFaultsApart/two servers behind one name", install, `"$last" | "$second" | "$third")`, `"$last")`)),
		kept("G-03", "The registry came back and refused, and the log went on with what had been wrong before.",
			by("bootstrap/daemon", "TestRegistryFaultsThatChange", kinds, `varying.ReplaceAllString(text, "#")`, `varying.ReplaceAllString("", "#")`),
			by("shared/loop", "TestShape/another cause", kinds, `varying.ReplaceAllString(text, "#")`, `varying.ReplaceAllString("", "#")`),
			by("bootstrap", "TestInstallTellsFaultsApart/another cause", install, kind, "kind==")),
		kept("G-04", "Delays that grow without a cap: the registry was back, and for hours nobody asked it. Or delays that do not grow.",
			by("bootstrap/daemon", "TestRegistryAwayForHours", delays, doubled, "max(2*b.delay, firstDelay)"),
			by("bootstrap/daemon", "TestRegistryAwayForHours", delays, doubled, "min(firstDelay, limit)"),
			by("bootstrap", "TestInstallWaits", install, slower, "delay < 1600 ? delay * 2 : 30"),
			by("bootstrap", "TestInstallWaitsForHours", install, slower, "delay < 1600 ? delay * 2 : 30")),
		kept("G-05", "A unit that was told to end in the midst of a pull waited for it, or called its own end a fault.",
			by("bootstrap/daemon", "TestStopDuringAPull", pulls, "\tp.cancel()\n", ""),
			by("shared/host/podman", "TestPullEndsWithItsCaller", pull, "http.NewRequestWithContext(ctx,", "http.NewRequestWithContext(e.service,")),
		kept("G-06", "A pull that was cut, by the line or by podman's own end, counted as done.",
			by("shared/host/podman", "TestPullIsCut", image, failed, "return nil"),
			by("shared/host/podman", "TestServiceEndsDuringPull", image, failed, "return nil")),
		kept("G-07", "A registry that fell silent in a layer held the pull for ever.",
			by("shared/host/podman", "TestPullHangs", pull, `func() { cancel(fmt.Errorf("nothing has arrived for %s", e.pullSilence)) }`, "func() {}"),
			by("bootstrap", "TestInstallEndsAPullThatHangs", install, arrives, "-lt 0")),
		kept("G-08", "A slow line was taken for a dead one, and each trial began its layer anew.",
			by("shared/host/podman", "TestPullIsSlow", pull, "func() { hung.Reset(e.pullSilence) }", "func() {}"),
			by("bootstrap", "TestInstallLetsASlowPullBe", install, arrives, "-lt 65536000")),
		kept("G-09", "R-15: what was there was pulled again, so that nothing started while the registry was away.",
			by("shared/host/podman", "TestPresentIsNeverPulled", image, "if status == http.StatusNotFound {", "if status == http.StatusNotFound || strings.Contains(image, \"@\") {"),
			by("bootstrap/daemon", "TestEnsure/nothing there", "bootstrap/daemon/daemon.go", "if !present {", "if !present || true {"),
			by("bootstrap", "TestInstallAgain", install, `{ within 60 podman image exists "$image" || pull; }`, "pull")),
		kept("G-10", "Credentials that were absent, wrong or of another registry, and nobody said which file to mend.",
			by("shared/host/podman", "TestCredentials", image, "known.explain(oneLine(err))", "oneLine(err)"),
			by("shared/host/podman", "TestCredentials", "shared/host/podman/credentials.go", "c.none = found == types.DockerAuthConfig{}", "c.none = found == types.DockerAuthConfig{} && false"),
			by("bootstrap", "TestInstallCredentials/no file", install, advised, "problem=$problem"),
			by("bootstrap", "TestInstallCredentials/nothing for this registry", install, `-e "\"$registry\"" -e "\"$registry/"`, `-e "$registry"`),
			by("bootstrap", "TestInstallCredentialsChange", install, "\t"+advised+"\n\t"+kind, "\t"+kind+"\n\t"+advised)),
		kept("G-11", "R-08, R-16: a pull that was killed left its files behind.",
			by("bootstrap", "TestInstallKilled", install, `rm -rf "$work" "$record.new"`, `rm -rf "$record.new"`)),
		kept("G-12", "While an image was pulled, for hours, nobody looked after what still served, and the VIP could not leave.",
			by("bootstrap/daemon", "TestPullLetsTheRoomTurn/the former one stands still: it is made to go on", "bootstrap/daemon/daemon.go", "if trouble = k.feel(ctx, spec.Name); k.digest == spec.Digest() {", "if k.digest == spec.Digest() {"),
			by("bootstrap/daemon", "TestPullLetsTheRoomTurn/it arrives: the former one is replaced", pulls, "case <-k.pull.ended:\n\tdefault:", "case <-k.pull.ended:\n\t\treturn UnderWay{image}\n\tdefault:"),
			by("cmd/onprem-infra", "TestStatusIsTrue", "cmd/onprem-infra/bootstrap_status.go", " || errors.As(err, new(daemon.UnderWay))", " || errors.As(err, new(daemon.UnderWay)) && false")),
		kept("G-13", "The install ended for good, by a pull that was killed or a call of podman that hung, and with it both daemons.",
			by("units", "TestInstallGoesOn", "units/onprem-install.service", "Restart=on-failure\n", ""),
			by("units", "TestInstallGoesOn", "units/onprem-install.service", "OOMPolicy=continue\n", ""),
			by("units", "TestDaemons", "units/onprem-keepalived.service", "Wants=onprem-install.service", "Requires=onprem-install.service"),
			by("bootstrap", "TestInstallEndsADeafPull", install, ` || kill -9 "$1" 2>/dev/null`, " || :"),
			by("bootstrap", "TestInstallSeesTheEndOfAPull", install, `alive "$pulling" || break`, `:`),
			by("bootstrap", "TestInstallBoundsPodman/create", install, "within 300 podman create", "podman create"),
			by("bootstrap", "TestInstallBoundsPodman/cp", install, "within 300 podman cp \"$container:/usr/bin/onprem-infra\"", "podman cp \"$container:/usr/bin/onprem-infra\"")),
	}
}
