package scars

// part9 is what is asked of a node's own resolver.
func part9() []Scar {
	const (
		prepend = "shared/resolvconf/prepend.go"
		decide  = "cluster/resolv/decide.go"
		apply   = "cluster/resolv/apply.go"
		label   = "shared/host/file/label.go"
		hook    = "cluster/files/30-resolv-prepender"
		service = "units/on-prem-resolv-prepender.service"
		watch   = "units/on-prem-resolv-prepender.path"
		gate    = "units/10-mco-on-prem-wait-resolv.conf"
	)
	return []Scar{
		kept("R-01", "For a moment resolv.conf was empty.",
			by("test/e2e", "TestLongNodeResolver", "cmd/onprem-infra/monitor_resolv.go", `return file.WriteLabelled(path, text, 0o644, "/etc/hosts")`,
				`err := os.WriteFile(path, nil, 0o644)
		time.Sleep(time.Second)
		return true, errors.Join(err, os.WriteFile(path, text, 0o644))`)),
		kept("R-02", "One failure, and there was no resolv.conf at all.",
			by("cluster/resolv", "TestResolvConf/R-02: no address yet and no file", decide, "case d.Done, known && !resolvconf.Usable(s.Current):", "case d.Done:")),
		kept("R-03", "A file without servers replaced a good one.",
			by("cluster/resolv", "TestResolvConf/R-03: a late lease and a good file", decide, "known := resolvconf.Usable(origin)", "known := true"),
			by("cluster/resolv", "TestResolvConf/R-03: NetworkManager has not spoken yet", decide, "if origin == nil && !s.Managed {", "if origin == nil {")),
		kept("R-04", "More than three servers: each pod complained.",
			by("shared/resolvconf", "TestPrepend/R-04: three", prepend, "servers == maxServers", "servers == 2*maxServers")),
		kept("R-05", "Ours was put in at the wrong place, or before each server.",
			by("shared/resolvconf", "TestPrepend/R-05: once, before the first, wherever that stands", prepend, "			first()\n			add(a, line)\n", "			add(a, line)\n"),
			by("shared/resolvconf", "TestPrepend/R-05: comments and CRLF", prepend, `strings.TrimRight(string(line), "\r\n")`, `strings.TrimRight(string(line), "\n")`)),
		kept("R-06", "The administrator's search list was replaced, or one that was not there not made.",
			by("shared/resolvconf", "TestPrepend/R-06: ours is moved to the front and there once", prepend, "list = append([]string{string(own.Search)}, strings.Fields(line)[1:]...)", "list = []string{string(own.Search)}"),
			by("shared/resolvconf", "TestPrepend/R-04: one", prepend, "list := []string{string(own.Search)}", "list := []string{}")),
		kept("R-07", "The reload of NetworkManager called the hook, which had it reload.",
			by("cluster/resolv", "TestFixpoint", apply, "	if changed {\n		r.changed, r.done", "	if changed || r.plan.Platform != \"\" {\n		r.changed, r.done"),
			by("cluster", "TestHookTwice", hook, `[ "$had" != "$2" ] || return 0`, ":")),
		kept("R-08", "The hook pulled an image, and was killed over it.",
			by("cluster", "TestHook/an interface is up", hook, "domains() {\n", "domains() {\n	podman image exists x || podman pull x\n")),
		kept("R-09", "Many interfaces, each of which the hook waited for.",
			by("cluster", "TestHookOfManyLinks", hook, `[ -e "$dir/dns-change" ] || domains`, "domains")),
		kept("R-10", "Kubelet started with a resolv.conf that was not ready, and gave it to pods.",
			by("units", "TestResolvPrepender", gate, "exit 255;", "exit 0;"),
			by("cluster/resolv", "TestResolvConf/R-02: no address yet and a good file", decide, "d.Done = known && s.Node.IsValid()", "d.Done = known")),
		kept("R-11", "On a second boot nothing had changed, so kubelet was never let go.",
			by("cluster/resolv", "TestFixpoint", decide, "d.Done = known && s.Node.IsValid()", "d.Done = known && s.Node.IsValid() && s.Current == nil")),
		kept("R-12", "Units that an older systemd refused, or that gave up after five starts.",
			by("units", "TestResolvPrepender", service, "Type=oneshot\n", "Type=oneshot\nRestart=on-failure\n"),
			by("units", "TestResolvPrepender", service, "StartLimitIntervalSec=0\n\n[Service]\n", "\n[Service]\nStartLimitIntervalSec=0\n"),
			by("test/envelopes", "TestVerify", service, "StartLimitIntervalSec=0\n\n[Service]\n", "\n[Service]\nStartLimitIntervalSec=0\n")),
		kept("R-13", "Events of NetworkManager's that never came.",
			by("units", "TestResolvPrepender", watch, "PathChanged=/run/NetworkManager/resolv.conf\n", ""),
			by("units", "TestResolvPrepender", watch, "Unit=on-prem-resolv-changed.service", "Unit=on-prem-resolv-prepender.service"),
			by("cluster/resolv", "TestEnd", apply, "case now.Sub(r.done) >= settle:", "default:")),
		kept("R-14", "Programs in domains of their own could not read the new file.",
			by("shared/host/file", "TestWriteLabelled", label, "return relabel(f, text)", "return relabel(f, text[:1])"),
			by("cluster/resolv", "TestResolved", apply, "if r.owed = r.owed || changed || !d.Marked && !r.restarted; !r.owed {", "if r.owed = r.owed || changed; !r.owed {")),
		kept("R-15", "An image that was there was pulled again: without a registry there was no resolv.conf.",
			by("units", "TestResolvPrepender", service, "until /usr/local/bin/onprem-infra monitor resolv;", "until podman run onprem-infra monitor resolv;")),
		kept("R-16", "Temporary files stayed behind.",
			by("shared/host/file", "TestWriteLabelled", label, "if err := os.Remove(l); err", "if err := os.Remove(l + \"-\"); err"),
			by("cluster", "TestHookLeavesNothing", hook, `trap '[ -z "$new" ] || rm -f "$new"' EXIT`, ":")),
		kept("R-17", "A name that somebody had chosen for the machine was overwritten.",
			by("cluster/resolv", "TestHostname", decide, `if chosen != "" && chosen != nameless || err != nil`, `if chosen == nameless && err == nil || err != nil`),
			by("cluster/resolv", "TestFaults", apply, "		return named\n	}\n	if _, err", "		return named\n	}\n	if named != nil {\n		return named\n	}\n	if _, err")),
	}
}
