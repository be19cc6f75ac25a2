package scars

func part4() []Scar {
	const (
		template  = "shared/keepalived/keepalived.conf.tmpl"
		policy    = "shared/vrrp/policy.go"
		proof     = "shared/vrrp/proof.go"
		release   = "bootstrap/vip/release.go"
		probe     = "shared/host/probe/api.go"
		daemon    = "shared/host/supervise/daemon.go"
		pulse     = "shared/host/supervise/pulse.go"
		speaker   = "shared/host/supervise/speaker.go"
		stop      = "bootstrap/daemon/stop.go"
		address   = "shared/host/link/address.go"
		keep      = "units/onprem-keepalived.service"
		limited   = "script \"/usr/bin/timeout {{.Timeout.Seconds}} {{.Command}}\"\n    interval {{.Interval.Seconds}}\n"
		looked    = "case code == http.StatusOK || code == http.StatusNoContent:"
		still     = "if p.held >= maxHeld || p.still >= maxStill || p.mute >= maxMute {"
		exactly   = "if prefix(a.IPNet).Addr() == address {"
		substring = "if s, n := prefix(a.IPNet).String(), len(address.String()); len(s) >= n && s[:n] == address.String() {"
		taken     = "removed, err := link.RemoveAddress(vip)"
		told      = "removed, err := []string{vip.String()}, error(nil)"
		term      = "errors.Join(s.children.signal(one, unix.SIGTERM),"
		forever   = "TimeoutStartSec=infinity"
		follows   = "err = follow.ListAndWatchWithContext(told)"
		ended     = `fmt.Errorf("container %s ended right after its start, with exit code %d: podman logs %s says why", spec.Name, state.ExitCode, spec.Name)`
		nodes     = "cluster/vip"
		looks     = "cmd/onprem-infra/monitor_vip_probe.go"
		latch     = "shared/health/latch.go"
		pace      = "shared/health/policy.go"
		balancer  = "Interval: 2 * time.Second, Timeout: 1900 * time.Millisecond, Rise: 3, Fall: 3"
	)
	return []Scar{
		kept("K-44", "Checks hung, and keepalived never ended them.",
			by("test/daemons", "TestHangingCheck", template, limited, "script \"{{.Command}}\"\n    interval {{.Interval.Seconds}}\n    timeout 1000\n"),
			by("shared/keepalived", "TestRender/master", template, limited, "script \"{{.Command}}\"\n    interval {{.Interval.Seconds}}\n"),
			by("shared/host/probe", "TestAPIHangs/within the answer", probe, "context.WithTimeout(ctx, budget)", "context.WithTimeout(context.WithoutCancel(ctx), budget)"),
			by("bootstrap/vip", "TestWatchBlackHole", release, "if r.failures >= health.BootstrapAPI().Fall {", "if r.failures >= 2*health.BootstrapAPI().Fall {"),
			by(nodes, "TestChecksHang", "cluster/vip/checks.go", "\tc.take(ctx, name, policy, finding{health.Failed, \"no answer in time\"})\n", ""),
			by(nodes, "TestChecksHang", "cluster/vip/checks.go", "\t\tif pending == nil {", "\t\tif true {")),
		kept("K-45", "HTTP 500 counted as good.",
			by("shared/host/probe", "TestAPI/shutdown passes, another fails", probe, looked, "case code > 0:"),
			by("shared/host/probe", "TestAPIFollowsNoRedirect", probe, "return http.ErrUseLastResponse", "return nil"),
			by("shared/host/probe", "TestAPIGone/reset", probe, "return health.Gone, err.Error()\n\tcase code", "return health.Ready, err.Error()\n\tcase code"),
			by("shared/host/probe", "TestAPIHangs/within the answer", probe, "	if err != nil {\n\t\treturn 0, nil, plain(err)", "	if answer == nil {\n\t\treturn 0, nil, plain(err)"),
			by("shared/host/probe", "TestGood", "shared/host/probe/http.go", "if code < http.StatusOK || code >= http.StatusMultipleChoices {", "if code >= 600 {")),
		kept("K-46", "The balancer's check spoke https to an http port and always failed.",
			by("test/podvip", "TestNodes", looks, `local(port.LBStats, "/haproxy_ready")`, `probe.NewUntrusted("https://localhost:29445/haproxy_ready", localhost.Dial)`)),
		kept("K-47", "The check asked the local API alone, or the API through the balancer: both moved the VIP for nothing.",
			by("cmd/onprem-infra", "TestLook", looks, "\tif found, why := answers(ctx, n.balancer, \"the balancer\"); found != health.Passed {\n\t\treturn found, why\n\t}", "\tif state, why := n.api.Probe(ctx); state != health.Ready {\n\t\treturn health.Failed, why\n\t}")),
		kept("K-48", "keepalived reacted before the balancer had dropped its backend.",
			by(nodes, "TestSlowerThanTheBalancer", pace, balancer, "Interval: 500 * time.Millisecond, Timeout: 400 * time.Millisecond, Rise: 3, Fall: 3"),
			by("shared/health", "TestPolicies", pace, balancer, "Interval: time.Second, Timeout: 900 * time.Millisecond, Rise: 3, Fall: 2")),
		kept("K-49", "Single timeouts moved a VIP, and it flapped at the recovery.",
			by("bootstrap/vip", "TestAlternatingLooksMoveNothing", release, "r.phase, r.failures, r.yields = holding, 0, false", "r.phase, r.yields = holding, false"),
			by("bootstrap/vip", "TestRelease/a good look starts the count anew", release, "r.phase, r.failures, r.yields = holding, 0, false", "r.phase, r.yields = holding, false"),
			by("shared/health", "TestLatch", latch, "\t\tl.run = 0\n\t\treturn l", "\t\treturn l")),
		kept("K-50", "The ingress VIP on a node without the default router.",
			by("cmd/onprem-infra", "TestLook", looks, "\t\tif health.IsDefaultRouter(p.Namespace, p.Name) {", "\t\tif strings.HasPrefix(p.Name, \"router-\") {"),
			by("shared/health", "TestDefaultRouter/a router of another IngressController", "shared/health/router.go", "^router-default-[a-z0-9]{5,10}", "^router-[a-z]+-[a-z0-9]{5,10}"),
			by("shared/health", "TestDefaultRouter/a hash of 10", "shared/health/router.go", "[a-z0-9]{5,10}", "[a-z0-9]{5,9}")),
		kept("K-51", "With weights alone somebody always took the ingress VIP, also without a router.",
			by(nodes, "TestNumbers", "cluster/vip/decide.go", "Weight: w.Adds})", "Weight: max(w.Adds, 1)})"),
			by("test/daemons", "TestRouters", template, "weight {{.Weight}}{{if not .Weight}} reverse{{end}}", "weight {{if .Weight}}{{.Weight}}{{else}}1{{end}}"),
			by("shared/vrrp", "TestCompat", policy, "Fault: true, Owner", "Adds: 1, Owner"),
			by("shared/keepalived", "TestPolicy", template, "{{- with .Weight}}\n    weight {{.}}\n{{- end}}", "    weight {{if .Weight}}{{.Weight}}{{else}}2{{end}}")),
		kept("K-52", "Routers that drained everywhere left no holder for 30 s.",
			by("test/daemons", "TestRouters", policy, "{Check: CheckIngressReady, Adds: ready, Owner", "{Check: CheckIngressReady, Fault: true, Owner"),
			by("cmd/onprem-infra", "TestLook", looks, `answers(ctx, n.router, "the ingress router")`, `answers(ctx, n.ready, "the ingress router")`),
			by("shared/vrrp", "TestSignals/draining router", "shared/vrrp/signals.go", "return s.Router, true", "return s.RouterReady, true"),
			by("shared/vrrp", "TestProveCompat", proof, "return s.Router && s.DefaultRouter && s.RouterReady }", "return s.Router && s.DefaultRouter && s.RouterReady && s.LB }")),
		kept("K-53", "The VIP went where no Ignition was served, and new nodes could not join.",
			by(nodes, "TestNumbers", policy, "controlPlaneWeights(20, 5, 3)", "controlPlaneWeights(20, 5, 1)"),
			by("cmd/onprem-infra", "TestLook", looks, `answers(ctx, n.mcs, "the machine config server")`, `answers(ctx, n.balancer, "the machine config server")`),
			by("shared/vrrp", "TestProveRejects/no machine-config-server check", proof, "return n.LB && n.MCS }, func(n node) bool { return n.LB && !n.MCS }", "return n.LB }, func(n node) bool { return !n.LB }"),
			by("shared/vrrp", "TestCompat", policy, "controlPlaneWeights(20, 5, 3)", "controlPlaneWeights(20, 5, 1)")),
		kept("K-54", "A hung keepalived passed its liveness probe by an old file.",
			by("cmd/onprem-supervise", "TestHangIsNoticed", pulse, still, "if false {"),
			by("shared/host/supervise", "TestPulse/it rests for too long", pulse, still, "if false {"),
			by("cmd/onprem-supervise", "TestStoppedGoesOn", pulse, "} else if p.held++; p.held < maxHeld {", "} else if p.held++; p.held < maxHeld && false {"),
			by("bootstrap/daemon", "TestEnsure/nothing there", "bootstrap/daemon/daemon.go", "if k.Prepare == nil {", "if true {"),
			by("cmd/onprem-supervise", "TestStoppedGoesOn", speaker, "sign{held: proc.Held(d.pid), ", "sign{"),
			by("cmd/onprem-supervise", "TestStoppedGoesOn", speaker, "return s.children.signalAll(d.child, unix.SIGCONT)", "return nil"),
			by("cmd/onprem-supervise", "TestHeldIsKilled", pulse, still, "if p.still >= maxStill {"),
			by("cmd/onprem-supervise", "TestHangIsNoticed", pulse, still, "if p.held >= maxHeld {"),
			by("shared/host/supervise", "TestPulse/it is stopped now and then", pulse, "p.held = 0", "_ = p.held"),
			by("shared/host/proc", "TestHeld", "shared/host/proc/held.go", "bytes.HasPrefix(after,", "bytes.HasPrefix(bytes.ToUpper(after),"),
			by("bootstrap/daemon", "TestPulse/hung: killed, and another one started", "bootstrap/daemon/pulse.go", "if k.pulse.missed >= dead+k.pulse.spare {", "if false {"),
			by("cmd/onprem-supervise", "TestBeatsWhileItWaits", "shared/host/supervise/loop.go", "timer := time.NewTimer(time.Until(next))", "timer := time.NewTimer(time.Hour + 0*time.Until(next))"),
			by("cluster", "TestProbeBudgets", "cluster/pods.go", `Liveness: asks(p, port.Supervise, "/healthz", 3)`, `Liveness: asks(p, port.Supervise, "/healthz", 12)`),
			by("shared/host/supervise", "TestPulseTaker", "shared/host/supervise/health.go", "return last != nil && now.Sub(*last) < turnBound", "return last != nil")),
		kept("K-55", "The liveness probe killed what had no configuration yet.",
			by("cmd/onprem-supervise", "TestTermEndsAtOnce/no candidate", "shared/host/supervise/candidate.go", "if errors.Is(err, fs.ErrNotExist) {\n\t\treturn nil, \"\", nil\n\t}", "if false && errors.Is(err, fs.ErrNotExist) {\n\t\treturn nil, \"\", nil\n\t}"),
			by("bootstrap/vip", "TestApplyWithoutAnAddress", "bootstrap/vip/apply.go", "return r.tell(d.Released, idle(d))", "if !d.Released {\n\t\t\treturn fmt.Errorf(\"no address\")\n\t\t}\n\t\treturn r.tell(d.Released, idle(d))"),
			by("units", "TestDaemons", keep, forever, "TimeoutStartSec=90"),
			by("bootstrap/daemon", "TestPulseOfTheNewborn", "bootstrap/daemon/pulse.go", "pulse{spare: youth}", "pulse{}"),
			by("bootstrap/daemon", "TestEarlyEnds", "bootstrap/daemon/daemon.go", "if time.Since(k.begun) >= settled {", "if true {"),
			by("bootstrap/daemon", "TestEndsAtOnce", "bootstrap/daemon/daemon.go", "costly{"+ended+"}", ended),
			by(nodes, "TestNothingKnown", "cluster/vip/apply.go", "\tif d.Leave {", "\tif false {"),
			by("cmd/onprem-supervise", "TestHealth", "shared/host/supervise/health.go", "if !s.pulse.works(time.Now()) {", "if s.daemon == nil {")),
		kept("K-56", "A probe was given less time than its own waits add up to.",
			by("units", "TestDaemons", keep, "TimeoutStopSec=45", "TimeoutStopSec=20"),
			by("units", "TestDaemons", keep, forever, "TimeoutStartSec=90")),
		kept("K-57", "A killed daemon left the VIP, and the first cure removed similar addresses.",
			by("shared/host/link", "TestRemoveAddress", address, exactly, substring),
			by("cmd/onprem-supervise", "TestLife", address, exactly, substring),
			by("cmd/onprem-supervise", "TestKilled", "shared/host/supervise/supervise.go", taken, told),
			by("cmd/onprem-supervise", "TestHung", "shared/host/supervise/leave.go", `return s.strip("keepalived ended without removing it")`, "return nil"),
			by("cmd/onprem-supervise", "TestLife", "shared/host/supervise/supervise.go", taken, told),
			by("cmd/onprem-supervise", "TestStray", "shared/host/supervise/stray.go", "case now.Sub(since) >= strayGrace:", "case now.Sub(since) >= 100*strayGrace:"),
			by("cmd/onprem-supervise", "TestStray", "shared/host/supervise/stray.go", "case !held || s.covered(vip):", "case !held:")),
		kept("K-58", "SIGTERM was lost on its way, and the VIP was away for seconds at each upgrade.",
			by("cmd/onprem-supervise", "TestStoppedLeaves", daemon, "s.children.signalAll(one, unix.SIGCONT)", "s.children.signalAll(one, 0)"),
			by("cmd/onprem-supervise", "TestLife", daemon, term, "errors.Join(s.children.kill(one),"),
			by("bootstrap/daemon", "TestStop", stop, "if k.Signal(syscall.SIGTERM) != nil {", "if k.Signal(syscall.SIGHUP) != nil {"),
			by("bootstrap/daemon", "TestStopOfAYoungProcess", stop, "_ = k.Signal(syscall.SIGTERM) // it", "_ = k.running // it"),
			by("bootstrap/daemon", "TestStopOfAContainerThatStandsStill/stopped: it is made to hear", stop, "\t_ = k.Signal(syscall.SIGCONT) // one that has ended meanwhile does not need it\n", ""),
			by("bootstrap/daemon", "TestStopOfAContainerThatStandsStill/paused: it is made to hear", stop, "\tk.thaw(grace, name)\n", ""),
			by("shared/host/podman", "TestStopOfAPausedContainer", "shared/host/podman/container.go", "\tif err := unpause(ctx, name, s); err != nil {\n\t\treturn err\n\t}\n\tseconds", "\tseconds")),
		kept("K-59", "At a reboot everything was killed at once, and the VIP stayed on a machine that ended.",
			by("units", "TestDaemons", keep, "After=network-online.target onprem-install.service podman.socket podman.service", "After=onprem-install.service"),
			by("units", "TestVIPLeave", "units/scope-leaves.conf", "Before=onprem-vip-leave.service\n", "After=onprem-vip-leave.service\n"),
			by("units", "TestVIPLeave", "units/onprem-vip-leave.service", "After=crio.service containerd.service\n", ""),
			by("units", "TestVIPLeave", "units/units.go", `u.Contents, err = add(u.Contents, "Unit", "After", kubelet); err != nil`, `u.Contents, err = add(u.Contents, "Unit", "After", "kubelet.service"); err != nil`),
			by("shared/keepalived", "TestLeave", template, "    weight -253\n", "    weight -40\n"),
			by("cmd/onprem-supervise", "TestLeavesInOrder", "shared/host/supervise/request.go", "s.masters() > 0 && now.Before(s.leaveBy)", "false"),
			by("cmd/onprem-supervise", "TestLeavesInOrder", "shared/host/supervise/request.go", "\tcase !asked:\n\t\ts.Log", "\tcase false:\n\t\ts.Log"),
			by("cmd/onprem-infra", "TestVIPLeave", "cmd/onprem-infra/vip_leave.go", "status.Leaving == supervised.Left ||", "status.Leaving != supervised.Stays ||"),
			by("cmd/onprem-infra", "TestRequestLeave", "cmd/onprem-infra/bootstrap_vip_host.go", " || string(text) != leaveOwner", ` || string(text) == "no"`)),
		kept("K-60", "A switch that missed the gratuitous ARP sent to the old holder for good.",
			by("test/daemons", "TestRefresh", template, "    vrrp_garp_master_refresh 60\n", ""),
			by("shared/keepalived", "TestConduct", template, "vrrp_garp_master_refresh 60", "vrrp_garp_master_refresh 3600"),
			by("shared/keepalived", "TestConduct", template, "    vrrp_higher_prio_send_advert true\n", "")),
		kept("K-61", "A container lost a capability, and its checks failed in silence.",
			by("shared/host/podman", "TestConfinement", "shared/host/podman/generate.go", `g.CapDrop = []string{"all"}`, "g.CapDrop = nil"),
			by("bootstrap/vip", "TestContainer", "bootstrap/vip/vip.go", `Capabilities: []string{"CAP_NET_ADMIN", "CAP_NET_RAW"},`, `Capabilities: []string{"CAP_NET_ADMIN"},`),
			by("bootstrap/dns", "TestContainer", "bootstrap/dns/dns.go", `[]string{"CAP_NET_BIND_SERVICE"}`, "nil"),
			by("test/e2e", "TestBootstrapVM", "bootstrap/vip/vip.go", `Capabilities: []string{"CAP_NET_ADMIN", "CAP_NET_RAW"},`, `Capabilities: []string{"CAP_NET_ADMIN"},`),
			by("cluster", "TestConfinement", "cluster/pods.go", "\t\t\tCapabilities: []string{\"NET_ADMIN\"}, // the redirect's rules\n", ""),
			by("cluster", "TestConfinement", "shared/pod/container.go", "AllowPrivilegeEscalation: new(false)", "AllowPrivilegeEscalation: new(true)")),
		kept("K-62", "An error of a look was taken for an answer: exists, or absent.",
			by("cmd/onprem-infra", "TestLook", looks, "return health.Untold, fmt.Sprintf(\"look for the redirect", "return health.Failed, fmt.Sprintf(\"look for the redirect"),
			by("shared/health", "TestLatch", latch, "\tcase f == Untold:\n\t\treturn l\n", ""),
			by("shared/host/supervise", "TestEar", "shared/host/supervise/track.go", "now.Sub(e.at) >= vrrp.Silence", "now.Sub(e.at) < 0"),
			by("shared/loop", "TestFailedObserveChangesNothing", "shared/loop/loop.go", "said.fault(ctx, log, \"observe\", err)\n\t\treturn\n", "said.fault(ctx, log, \"observe\", err)\n"),
			by("shared/host/podman", "TestTroubleIsNotAbsence", "shared/host/podman/container.go", "if status == http.StatusNotFound || vanished(err) {", "if status == http.StatusNotFound || status >= 500 || vanished(err) {"),
			by("shared/host/kube", "TestFaultsEmptyNothing/forgotten, and an empty list", "shared/host/kube/source.go", `list.GetResourceVersion() == ""`, `list.GetResourceVersion() == "none"`),
			by("shared/host/nft", "TestWithoutPermission", "shared/host/nft/nft.go", `return false, fmt.Errorf("list netfilter chains: %w", err)`, "return false, nil"),
			by("cluster/lb", "TestFaultsApart", "cluster/lb/apply.go", "\tcase d.Fault != nil:\n\t\treturn errors.Join(err, d.Fault)\n", ""),
			by("cmd/onprem-infra", "TestCheckOnce", "cmd/onprem-infra/check.go", "return fmt.Errorf(\"check %s: %s\", check, why)\n\t}", "return negative(fmt.Errorf(\"check %s: %s\", check, why))\n\t}")),
		kept("K-63", "Each check was a curl, whose library filled the kernel's memory.",
			by("shared/host/probe", "TestProbesStartNoProcess", "shared/host/probe/http.go", "	\"net/http\"\n", "	\"net/http\"\n	_ \"os/exec\"\n"),
			by("shared/host/probe", "TestAPIThousandProbesOneConnection", probe, "direct := http.Client{Transport: client.Transport,", "direct := http.Client{Transport: client.Transport.(*http.Transport).Clone(),")),
		kept("K-64", "Each monitor listed all Nodes several times in ten seconds.",
			by("shared/host/kube", "TestSteadyStateListsNothing", "shared/host/kube/follow.go", follows, "short, cancel := context.WithTimeout(told, 10*time.Second)\n\t\t\terr = follow.ListAndWatchWithContext(short)\n\t\t\tcancel()\n\t\t\tfollow = nil"),
			by("shared/host/kube", "TestSteadyStateListsNothing", "shared/host/kube/resume.go", "context.WithTimeout(ctx, lasts+answerWithin)", "context.WithTimeout(ctx, answerWithin)"),
			by("shared/host/kube", "TestSteadyStateListsNothing", "shared/host/kube/resume.go", "\t\t\tversion = seen", "\t\t\t_ = seen"),
			by("test/kubeapi", "TestResumes", "shared/host/kube/resume.go", "\treturn version, nil\n}\n\nfunc (r *resumed) pass", "\treturn version, errAnother\n}\n\nfunc (r *resumed) pass")),
		partly("K-65", "The log was full of one line, or told nothing.",
			"A level that changes at run time: there is one level. Every unit and every monitor says each change once, always.",
			by("shared/loop", "TestErrorsAreLoggedWhenTheyChange", "shared/loop/news.go", "_, known := n.heard[key]", "known := false"),
			by("shared/loop", "TestReasonsAreLoggedWhenTheyChange", "shared/loop/loop.go", "if slices.Equal(j.why, why) {", "if true {"),
			by("shared/host/kube", "TestClientGoIsSilent", "shared/host/kube/klog.go", "klog.SetSlogLogger(slog.New(slog.DiscardHandler))", "_ = slog.DiscardHandler"),
			by("shared/host/kube", "TestClientTellsOnceOfABadFile", "shared/host/kube/access.go", "if text == a.said {", "if text == a.said && text == \"\" {"),
			by("cmd/onprem-infra", "TestVIPProberLogsChanges", "cmd/onprem-infra/bootstrap_vip_host.go", "why != v.said", `why != ""`),
			by("shared/host/probe", "TestExpiredCertificateIsOneFault", probe, "\t\tinvalid.Detail = \"\"\n", "")),
		kept("K-66", "Without a numeric priority the kubelet stopped the balancer and DNS first.",
			by("cluster", "TestConventions", "shared/pod/render.go", "\t\tPriority:                      new(int32(priority)),\n", ""),
			by("test/kubeapi", "TestPods", "shared/pod/render.go", "priority      = 2000001000", "priority      = 2000000000")),
	}
}
