package scars

// part5 is what is asked of a control plane node's balancer and of the redirect of the VIPs to it.
func part5() []Scar {
	const (
		template = "shared/haproxy/haproxy.cfg.tmpl"
		place    = "shared/haproxy/config.go"
		render   = "shared/haproxy/render.go"
		decide   = "cluster/lb/decide.go"
		apply    = "cluster/lb/apply.go"
		talk     = "shared/host/haproxy/haproxy.go"
		filter   = "shared/host/nft/nft.go"
		rules    = "shared/host/nft/rules.go"
		redirect = "shared/redirect/redirect.go"
		pods     = "cluster/pods.go"
		checks   = "{{.Pace}} weight"
		digest   = "shared/haproxy/digest.go"
		freed    = "\t\t\tline = fmt.Appendf(nil, \"    server %s %s disabled\\n\", words[1], Free)\n"
		alive    = `Startup: asks(p, port.LBStats, "/haproxy_alive", 60), Liveness: asks(p, port.LBStats, "/haproxy_alive", 3)`
	)
	return []Scar{
		kept("H-01", "A port was another program's, a nodePort, or one that the kernel gives away.",
			by("shared/port", "TestAll", "shared/port/port.go", "{MonitorVIP, 9455,", "{MonitorVIP, 10250,"),
			by("cluster", "TestHostPorts", pods, `{"mcs-lb", port.MachineConfigLB}`, `{"mcs-lb", port.LB}`)),
		kept("H-02", "healthz was asked for readyz: a server left the rotation only when it refused already.",
			by("test/podlb", "TestFaults", template, "uri /readyz ver", "uri /who ver")),
		kept("H-03", "Each look left a connection open.",
			by("shared/host/haproxy", "TestLeavesNothingOpen", talk, "\t\treturn nil, err\n\t}\n\tdefer conn.Close()\n", "\t\treturn nil, err\n\t}\n"),
			by("shared/host/haproxy", "TestLeavesNothingOpen", talk, "health.Do(request)", "(&http.Client{Transport: &http.Transport{}}).Do(request)")),
		kept("H-04", "The balancer's monitor needed the API by a name that led through the balancer.",
			by("cluster/lb", "TestMembersWithoutTheAPI", decide, "\tr.slots, r.loaded = decode(text), true", "\tr.slots, r.loaded = decode(text[:0]), true"),
			by("cluster/lb", "TestPrepare", apply, "\treturn r.write(d, nil)\n}\n\n// Leave", "\treturn nil\n}\n\n// Leave")),
		kept("H-05", "A server without an address came into the configuration, which HAProxy then refused.",
			by("shared/haproxy", "TestPlace", place, "return a.IsValid() && !a.IsUnspecified()", "return true || !a.IsUnspecified()"),
			by("cluster/lb", "TestMemory", decide, "slots = haproxy.Place(s.Before, s.Before)", "slots = s.Before"),
			by("cluster/lb", "TestRefused", apply, "errors.Join(err, r.write(Desired{Config: r.force}, nil))", "err"),
			by("cluster/lb", "TestNotRefused", apply, "if !refused {", "if !refused && ctx.Err() != nil {")),
		kept("H-06", "HAProxy was reloaded when nothing had changed.",
			by("shared/haproxy", "TestPlace", place, "\tslices.SortFunc(members, netip.Addr.Compare)\n", ""),
			by("cluster/lb", "TestChangesWithoutReload", digest, freed, "_ = Free\n"),
			by("test/podlb", "TestMembers", digest, freed, "_ = Free\n")),
		kept("H-07", "Old workers never ended, and a reload refused connections.",
			by("test/podlb", "TestReload", template, "    mworker-max-reloads 3\n", ""),
			by("test/podlb", "TestReload", template, "    hard-stop-after 2m\n", "    hard-stop-after 100ms\n")),
		kept("H-08", "After a restart of its container HAProxy waited for a change of its configuration.",
			by("cluster/lb", "TestChangesWithoutReload", apply, "\tif err := r.write(d, nil); err != nil {\n\t\treturn err\n\t}\n\tr.force", "\tr.force")),
		kept("H-09", "The log's socket was there already, and after a restart there was no log.",
			by("shared/haproxy", "TestRender/three", template, "log stdout format raw local0 notice", "log /run/onprem-infra/haproxy/log.sock local0 notice")),
		kept("H-10", "The balancer was ended before it had its first configuration.",
			by("cluster/lb", "TestPrepare", apply, "\treturn r.write(d, nil)\n}\n\n// Leave", "\treturn nil\n}\n\n// Leave"),
			by("cluster", "TestHAProxyAnswers", template, "    monitor-uri /haproxy_alive\n", ""),
			by("cluster", "TestProbes", pods, alive, `Liveness: asks(p, port.LBStats, "/haproxy_alive", 3)`),
			by("cluster", "TestProbes", pods, `Startup: asks(p, port.CoreDNSHealth, "/health", 60), `, "")),
		kept("H-11", "A balancer without a server said that it was ready, and its node kept the VIP.",
			by("shared/haproxy", "TestRender/no-members", render, "p.Serves = p.Serves || usable(a)", "p.Serves = p.Serves || true || usable(a)")),
		kept("H-12", "The balancer was asked through itself, and a server that drained answered for it.",
			by("test/podlb", "TestFailOpen", template, "{ path /haproxy_monitor } { nbsrv(masters) gt 0 }\n", "{ path /haproxy_monitor }\n")),
		kept("H-13", "The redirect went over a few looks in each rollout.",
			by("cluster/lb", "TestRedirect", decide, "r.late >= r.plan.Timing.Model.Redirect.Fall", "r.late >= 1"),
			by("cluster/lb", "TestRedirect", decide, "r.late, r.on = 0, s.Healthy", "r.late, r.on = 0, s.Healthy || r.on"),
			by("cmd/onprem-infra", "TestClusterChanges", "cmd/onprem-infra/monitor.go", "if errors.Is(context.Cause(ctx), errAnew) {", "if false {"),
			by("test/podlb", "TestClusterChanges", "cmd/onprem-infra/monitor.go", "if errors.Is(context.Cause(ctx), errAnew) {", "if false {")),
		kept("H-14", "A dead server stayed in the rotation, one that came back had its whole share at once, and one that drained lost its sessions.",
			by("test/podlb", "TestFaults", template, " slowstart 60s", ""),
			by("test/podlb", "TestFaults", template, "    option redispatch 1\n", ""),
			by("test/podlb", "TestFaults", template, checks, "inter 5s fastinter 200ms fall 2 rise 3 weight"),
			by("test/podlb", "TestFaults", template, "on-error mark-down\n{{- range .API", "on-error mark-down on-marked-down shutdown-sessions\n{{- range .API"),
			by("test/podlb", "TestFaults", "shared/haproxy/change.go", `s.Check == "L6TOUT" && s.Changed >= hung`, "false")),
		kept("H-15", "The redirect stayed where no balancer was any more.",
			by("test/podlb", "TestDegraded", apply, "\t_, err := r.filter.Ensure(r.redirects().Off())\n\treturn err", "\treturn nil"),
			by("shared/host/haproxy", "TestFollow", talk, "!errors.Is(err, context.DeadlineExceeded) {", "false {")),
		kept("H-16", "Two processes wrote the rules at once, and one of a pair of equals stayed.",
			by("shared/host/nft", "TestConcurrent", filter, "\tc.DelTable(&table)\n\tc.AddTable(&table)\n", "")),
		kept("H-17", "The holder did not reach its own VIP through the balancer.",
			by("test/podlb", "TestRedirect", rules, "\treturn []chain{came, sent, pre, out, in}", "\tout.rules = nil\n\treturn []chain{came, sent, pre, out, in}"),
			by("test/podlb", "TestRedirect", rules, "to := append(toVIP(d), local()...)", "to := toVIP(d)")),
		partly("H-18", "With Cilium the connections of pods on the holder were lost.",
			"Cilium itself does not run in a test: a pod behind a veth of the holder stands for it, and the rules say DNAT and not REDIRECT.",
			by("test/podlb", "TestRedirect", redirect, "From: ports[port.API], To: ports[port.LB]}", "From: ports[port.API], To: ports[port.LB], Sources: networks}")),
		partly("H-19", "Rules were written with one iptables, and looked for with another.",
			"Rules of the legacy iptables cannot be seen by netlink; those that an older monitor leaves there go with the reboot of the update.",
			by("shared/host/nft", "TestLeftovers", "shared/host/nft/leftover.go", `if !ok || m.Name != "comment" {`, `if !ok || m.Name != "x" {`)),
		partly("H-20", "20,000 connections were too few for a hub of clusters.",
			"40,000 idle connections are not run: they need more open files than a test may have.",
			by("shared/haproxy", "TestRender/three", template, "    maxconn 40000\n", "    maxconn 20000\n")),
		kept("H-21", "Clients that vanished half-closed filled the balancer.",
			by("test/podlb", "TestHalfClosed", template, "    timeout client-fin 1s\n    timeout server-fin 1s\n", "")),
		kept("H-22", "A list of nodes in another order, or one that flapped, reloaded HAProxy.",
			by("shared/haproxy", "TestPlace", place, "\tslices.SortFunc(members, netip.Addr.Compare)\n", ""),
			by("shared/haproxy", "TestStructure/a member less", digest, freed, "_ = Free\n"),
			by("cluster/lb", "TestChangesWithoutReload", digest, freed, "_ = Free\n")),
		kept("H-23", "A port stood in a script, and did not follow its setting.",
			by("shared/redirect", "TestOf/other ports", redirect, "From: ports[port.API], To: ports[port.LB]", "From: 6443, To: ports[port.LB]"),
			by("shared/haproxy", "TestRender/other-ports", template, "    bind {{.Any}}:{{.Ports.LB}}{{.Dual}}", "    bind {{.Any}}:9445{{.Dual}}")),
		kept("H-24", "On IPv6 hosts the balancer listened on IPv4 only.",
			by("test/podlb", "TestFamilies", render, `p.Any, p.Dual = "::", " v4v6"`, "_ = p.Dual")),
		kept("H-25", "Each platform had its own source of members and its own timings, and some were old.",
			by("cluster", "TestPlatformsDifferInNamesOnly", pods, alive, `Startup: asks(p, port.LBStats, "/haproxy_alive", 60), Liveness: asks(p, port.LBStats, "/haproxy_alive", map[bool]int{true: 6, false: 3}[p.Platform == spec.OpenStack])`)),
	}
}

// balancers are what is asked of the balancer and of the redirect beside the scars.
func balancers() []Scar {
	const (
		template = "shared/haproxy/haproxy.cfg.tmpl"
		rules    = "shared/host/nft/rules.go"
		tracked  = "\tin.rules = append(in.rules, redirected())\n\tfor"
	)
	return []Scar{
		kept("L-01", "A server counted as up that had passed no check yet.",
			by("test/podlb", "TestMembers", "shared/haproxy/change.go", "\tset(\"health down\")\n", ""),
			by("shared/haproxy", "TestReady", "shared/haproxy/stats.go", "s.Up() && s.Passed()", "s.Up()"),
			by("shared/haproxy", "TestReady", "shared/haproxy/stats.go", "s.serves() && s.Code == ready", "s.serves()")),
		kept("L-02", "No server passed its check, and everybody was refused.",
			by("test/podlb", "TestFailOpen", template, "default_backend masters-open", "default_backend masters")),
		kept("L-03", "Pods, which must not read Ignition documents, got them by the balanced port.",
			by("test/podlb", "TestRedirect", "shared/redirect/redirect.go", "Sources: sources,", "Sources: nil,"),
			by("test/podlb", "TestRedirect", rules, "&expr.Reject{Type: unix.NFT_REJECT_TCP_RST}", "&expr.Verdict{Kind: expr.VerdictAccept}"),
			by("shared/host/nft", "TestClosedToOthers", rules, "redirected(), noted(), ", "redirected(), "),
			by("test/podlb", "TestRedirect", template, "    tcp-request connection reject\n", "")),
		kept("L-04", "Connections were cut when the redirect went or came.",
			by("test/podlb", "TestEstablished", rules, tracked, "\tfor")),
		kept("L-05", "Watches of a server that hung were left alone for long.",
			by("cluster/lb", "TestLeftAlone", "cluster/lb/apply.go", "r.host.Now().Add(often)", "r.host.Now().Add(4 * often)")),
		kept("L-06", "Whoever filled the ports on which the balancer tells everybody how it does moved the VIP.",
			by("cmd/onprem-infra", "TestBalancerIsAskedInside", "cmd/onprem-infra/monitor_lb.go", "p.Ports[port.LBStats]), p.Timing", "p.Ports[port.LBMonitor]), p.Timing"),
			by("cmd/onprem-infra", "TestBalancerIsAskedInside", "cmd/onprem-infra/monitor_vip_probe.go", "balancer: local(port.LBStats,", "balancer: local(port.LBReady,"),
			by("test/podlb", "TestCrowd", template, "maxconn 45000", "maxconn 2000")),
	}
}
