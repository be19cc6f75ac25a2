package scars

func part3() []Scar {
	const (
		policy   = "shared/vrrp/policy.go"
		release  = "bootstrap/vip/release.go"
		template = "shared/keepalived/keepalived.conf.tmpl"
		probe    = "shared/host/probe/api.go"
		watch    = "bootstrap/vip/watch.go"
		access   = "shared/host/kube/access.go"
		counted  = "if r.failures >= health.BootstrapAPI().Fall {"
		ready    = "if l.API == health.Ready {"
		patience = "firstReadyWithin = 30 * time.Minute"
		drained  = "body, err = io.ReadAll(io.LimitReader(answer.Body, most))"
		beside   = "if !w.unready {"
		budgeted = "ctx, cancel := context.WithTimeout(ctx, budget)"
	)
	return []Scar{
		kept("K-33", "The VIP left the bootstrap machine as soon as one master answered.",
			by("shared/vrrp", "TestProveCompat", policy, "Bootstrap:    70,", "Bootstrap:    50,"),
			by("shared/vrrp", "TestProveRejects/bootstrap as it was in 2020", "shared/vrrp/proof.go", "if beats(p.Bootstrap, proof.ControlPlaneMax) {", "if true {"),
			by("shared/keepalived", "TestPolicy", policy, "controlPlaneWeights(20, 5, 3)", "controlPlaneWeights(20, 5, 6)"),
			by("bootstrap/vip", "TestStopMatrix", release, ready, "if l.API == health.Ready && r.phase == waiting {"),
			by("shared/vrrp", "TestCompat", policy, "Bootstrap:    70,", "Bootstrap:    68,"),
			by("shared/vrrp", "TestRanked", "shared/vrrp/policy.go", "Bootstrap:    230,", "Bootstrap:    208,"),
			by("shared/vrrp", "TestProveRejectsRanked/bootstrap that a holder of the best rank reaches", "shared/vrrp/policy.go", "priority += c.Holder", "priority += 0")),
		kept("K-34", "A bootstrap machine that was kept for debugging kept the VIP.",
			by("bootstrap/vip", "TestStopStories/K-34: down for good on a machine that lives on", release, counted, "if false {"),
			by("bootstrap/vip", "TestStopKeepsThePlansWord", release, counted, "if r.failures >= 4*health.BootstrapAPI().Fall {"),
			by("bootstrap/vip", "TestRelease/K-34: a restart after the end does not take the VIP back", release, "return Release{phase: released}", "return Release{phase: holding}"),
			by("bootstrap/vip", "TestStopKeepsThePlansWord", "shared/health/policy.go", "Fall: 5}", "Fall: 15}"),
			by("shared/health", "TestDetects", "shared/health/policy.go", "return p.Interval + first +", "return first +"),
			by("bootstrap/vip", "TestRelease/K-34: an API that is gone during the hand-over is not waited for", release, "r.yields && l.API == health.ShuttingDown", "r.yields && l.API != health.Ready"),
			by("bootstrap/vip", "TestYield", "bootstrap/vip/yield.go", " || now.Sub(r.yields) >= yieldBound", "")),
		kept("K-35", "A restart of the API looked like the end, and the VIP never came back.",
			by("bootstrap/vip", "TestStopStories/K-35: 6 s down and back", release, ready, "if l.API == health.Ready && r.phase != released {"),
			by("bootstrap/vip", "TestStopStories/K-35: down again and again, never for 5 s", release, "r.phase, r.failures, r.yields = holding, 0, false", "r.phase, r.yields = holding, false"),
			by("bootstrap/vip", "TestApplyRelease", "bootstrap/vip/apply.go", "	if !d.Run {\n", "	if !d.Run || r.told == \"the API VIP is not held here\" {\n"),
			by("shared/host/kube", "TestClientFollowsItsCAFile", access, "err != nil || !bytes.Equal(now, was)", "err != nil || len(now) < 0 && len(was) < 0"),
			by("bootstrap/vip", "TestYield", "bootstrap/vip/yield.go", "r.host.Leave(false)", "error(nil)")),
		partly("K-36", "nopreempt kept the VIP on a master without an API.",
			"In the booted machine: with nopreempt on all machines the VIP still came back to a keepalived that had started anew, so its drill of TestLongStop shows nothing of it.",
			by("shared/keepalived", "TestConduct", template, "    state BACKUP\n", "    state BACKUP\n    nopreempt\n"),
			by("bootstrap/vip", "TestApplyRelease", template, "    state BACKUP\n", "    state BACKUP\n    nopreempt\n")),
		kept("K-37", "The API was down, hosts in provisioning reached Ironic through the VIP, and lost it.",
			by("bootstrap/vip", "TestStopMatrix", release, "case l.Ironic:", "case false:"),
			by("bootstrap/vip", "TestStopStories/K-37: Ironic serves for an hour after the API has gone", release, "case l.Ironic:", "case false:"),
			by("bootstrap/vip", "TestRelease/K-37: the count goes on after Ironic", release, "case l.Ironic:\n", "case l.Ironic:\n\t\tr.failures = 0\n"),
			by("shared/host/probe", "TestHTTPNoAnswerIsDeath", "shared/host/probe/line.go", budgeted, "ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), budget)"),
			by("bootstrap/vip", "TestStopMatrix", probe, budgeted, "ctx, cancel := context.WithTimeout(ctx, 12*budget)"),
			by("bootstrap/vip", "TestStopAsksLittle", watch, beside, "if w.unready {"),
			by("bootstrap/vip", "TestRelease/K-37: an announced shutdown with a ready master waits for Ironic", release, "case l.Ironic:", "case l.Ironic && l.Heir != ReadyHeir:"),
			by("bootstrap/vip", "TestStopStories/K-37: Ironic hangs when the API goes, and the VIP returns at once with the API", watch, "if w.release.phase == released {", "if w.release.phase == waiting && w.unready {"),
			by("bootstrap/vip", "TestStopReadyDoesNotWaitForIronic", watch, "\tdefer asked.Wait()\n\tctx, cancel", "\tdefer asked.Wait()\n\t_, cancel")),
		kept("K-38", "Stop and reload raced in one queue, and a dying process was signalled.",
			by("bootstrap/vip", "TestCommandsAreSerialised", "bootstrap/vip/apply.go", "	if !d.Run {\n", "	if !d.Run {\n\t\tgo r.daemon.Stop(context.WithoutCancel(ctx), containerName)\n\t\treturn r.tell(d.Released, idle(d))\n\t}\n\tif !d.Run {\n"),
			by("bootstrap/vip", "TestApplyRelease", "bootstrap/vip/decide.go", "	if !s.Verdict.Hold {\n", "	if false {\n"),
			by("cmd/onprem-supervise", "TestReloadsWhenItCanBeHeard", "shared/host/supervise/daemon.go", "(s.daemon.spoke || now.Sub(s.daemon.started) >= deaf)", "true"),
			by("bootstrap/vip", "TestCommandsAreSerialised", watch, "\t\told := w.verdict.Swap(&verdict)\n", "\t\told := w.verdict.Load()\n\t\tif old == nil || verdict.Hold {\n\t\t\tw.verdict.Store(&verdict)\n\t\t}\n")),
		kept("K-39", "30 s were taken for infinity, and slow hosts lost keepalived before the API ever ran.",
			by("bootstrap/vip", "TestStopStories/K-39: first ready after 10 min", release, patience, "firstReadyWithin = 30 * time.Second"),
			by("bootstrap/vip", "TestStopStories/K-39: first ready after 20 min, answering 500 for the last of them", release, patience, "firstReadyWithin = 15 * time.Minute"),
			by("bootstrap/vip", "TestReleaseNeverLeavesBeforeReady", release, patience, "firstReadyWithin = time.Second")),
		kept("K-40", "A hung connection blocked for ever.",
			by("bootstrap/vip", "TestStopStories/K-40: the API hangs for a minute", probe, budgeted, "ctx, cancel := context.WithTimeout(ctx, 100*budget)"),
			by("shared/host/probe", "TestAPIHangs/before TLS, for the whole budget", probe, budgeted, "ctx, cancel := context.WithTimeout(ctx, 2*budget)"),
			by("shared/host/kube", "TestProbeLeavesAStuckConnection", access, `protocols: []string{"http/1.1"}, log: log`, "log: log"),
			by("shared/host/kube", "TestSilentAPI", "shared/host/kube/resume.go", "silent := time.AfterFunc(answerWithin, cancel)", "silent := time.AfterFunc(100*answerWithin, cancel)"),
			by("bootstrap/vip", "TestStopMatrix", watch, beside, "if true {"),
			by("shared/host/kube", "TestSilentAPIHoldsNoWriter", "shared/host/kube/put.go", "context.WithTimeout(ctx, answerWithin)", "context.WithTimeout(ctx, 2*answerWithin)"),
			by("shared/host/podresources", "TestListTrouble/K-40: a kubelet that hangs", "shared/host/podresources/podresources.go", "WithTimeout(ctx, answerWithin)", "WithTimeout(ctx, 8*answerWithin)")),
		kept("K-41", "A server that ends still answered lists for 70 s and was taken for healthy.",
			by("bootstrap/vip", "TestStopMatrix", release, ready, "if l.API == health.Ready || l.API == health.NotReady {"),
			by("bootstrap/vip", "TestStopStories/K-41: a master becomes ready during the shutdown", release, "case l.API == health.ShuttingDown && l.Heir == ReadyHeir:", "case false:"),
			by("shared/host/probe", "TestAPI/shutdown passes, another fails", probe, `"/readyz"`, `"/livez"`),
			by("shared/host/probe", "TestAPI/absent", probe, "case code == http.StatusOK || code == http.StatusNoContent:", "case code > 0:"),
			by("bootstrap/vip", "TestStopMatrix", probe, "case code == http.StatusOK || code == http.StatusNoContent:", `case code < 600 && !failing(body, "shutdown"):`),
			by("bootstrap/vip", "TestStopMatrix", release, "case l.API == health.ShuttingDown && l.Heir == NoHeir:", "case l.API == health.ShuttingDown:"),
			by("bootstrap/vip", "TestHeirAmong", "bootstrap/vip/heir.go", "slices.Contains(seen, health.Untrusted)", "len(seen) == 0"),
			by("shared/host/probe", "TestAPI/shutdown passes, another fails", probe, `code == http.StatusInternalServerError && failing(body, "shutdown")`, "code == http.StatusInternalServerError && len(body) > 0"),
			by("cmd/onprem-infra", "TestVIPProberHeir", "cmd/onprem-infra/bootstrap_vip_host.go", "heirs := vip.Heirs(v.plan, v.nodes())", "heirs := vip.Heirs(v.plan, nil)"),
			by("bootstrap/vip", "TestRelease/K-41: the hand-over goes on while the API announces its shutdown, whoever is ready", release, "r.phase, r.yields = released, true", "r.phase = released"),
			by("bootstrap/vip", "TestYield", "bootstrap/vip/apply.go", "\tif d.Yield {", "\tif false {")),
		kept("K-42", "A new connection for each probe.",
			by("shared/host/probe", "TestAPIThousandProbesOneConnection", probe, drained, "body, err = io.ReadAll(io.LimitReader(answer.Body, 1))"),
			by("shared/host/kube", "TestProbeKeepsOneConnection", access, "if a.client == nil || !bytes.Equal(text, a.text) {", "if text != nil {"),
			by("bootstrap/vip", "TestStopAsksLittle", probe, drained, "body, err = io.ReadAll(io.LimitReader(answer.Body, 1))"),
			by("bootstrap/vip", "TestStopAsksLittle", probe, "\treturn answer.StatusCode, body, nil", "\tclient.CloseIdleConnections()\n\treturn answer.StatusCode, body, nil"),
			by("shared/host/probe", "TestAPILeavesOtherConnections", probe, "\t\treturn 0, nil, plain(err)", "\t\tclient.CloseIdleConnections()\n\t\treturn 0, nil, plain(err)"),
			by("shared/host/podresources", "TestListLeavesNothingOpen", "shared/host/podresources/podresources.go", "\tdefer conn.Close()\n", "")),
		kept("K-43", "The VIP's PTR record named the bootstrap machine api, and it could not reach the API any more.",
			by("bootstrap", "TestNetworkManager", "bootstrap/files/99-onprem-infra.conf", "hostname-mode=dhcp", "hostname-mode=default"),
			by("test/e2e", "TestLongStaticAddress/PTR records name the API: with a static address", "bootstrap/files/99-onprem-infra.conf", "hostname-mode=dhcp", "hostname-mode=default"),
			by("test/daemons", "TestAddress", template, "/128 preferred_lft 0 noprefixroute", "/128 preferred_lft forever noprefixroute")),
	}
}
