package scars

// newDaemons are what releases of keepalived and HAProxy differ in, and what surrounds them.
func newDaemons() []Scar {
	const (
		router   = "shared/keepalived/keepalived.conf.tmpl"
		balancer = "shared/haproxy/haproxy.cfg.tmpl"
	)
	return []Scar{
		kept("ND-01", "A silent name server kept the VIP away: each test and start of keepalived looked up the host's own name.",
			by("test/daemons", "TestSilentNameServer", router, "    router_id onprem-infra\n", ""),
			by("cmd/onprem-supervise", "TestRefusesWhatHangs", "shared/host/supervise/candidate.go", "timedOut = true", "timedOut = false"),
			by("shared/doctor", "TestChecks", "shared/doctor/daemons.go", "r == nil || r.Alive > 0 && len(r.Dead) == 0", "r == nil || r.Alive > 0")),
		kept("ND-02", "HAProxy 3.3 and later refused the configuration: a frontend had a backend's name.",
			by("shared/haproxy", "TestSectionNames", balancer, "frontend machine-config-lb\n", "frontend machine-config\n"),
			by("shared/haproxy", "TestSectionNames", "shared/haproxy/config.go", `= "machine-config"`, `= "machine-config-servers"`)),
		kept("ND-03", "Debian 13's keepalived did not start: a mount hid the file of its image that it reads before anything else.",
			by("cluster", "TestHostPaths", "cluster/pods.go", "Path: vrrpd.Dir, ", ""),
			by("cluster/mco", "TestBootstrapPods_ImagesDirectory", "cluster/mco/bootstrap.go", "Path: keepalived.Dir, ", ""),
			by("bootstrap/vip", "TestMountsOfWhatChanges", "bootstrap/vip/vip.go", "Target: keepalived.Dir}", "Target: keepalived.HostDir}")),
		kept("ND-04", "keepalived tested a configuration whose tracked files' directory was missing, which newer releases refuse, or never end.",
			by("cmd/onprem-supervise", "TestTrackedDirectories_BeforeTheTest", "shared/host/supervise/loop.go", "\ts.prepareTracks()\n", "")),
		kept("ND-05", "keepalived 2.3.3 gave the VIP up for a cluster with the same virtual router ID and another VIP.",
			by("shared/host/nft", "TestGroups", "shared/host/nft/vrrp.go", "for _, g := range groups {", "for _, g := range groups[:0] {"),
			by("shared/host/supervise", "TestGroups", "shared/host/supervise/far.go", "id != 0 && len(vips) == 1", "id == 0 && len(vips) == 1")),
		kept("ND-06", "Of two keepalived that started at once in one mount namespace one ended: both lock /run/bfd.pid.",
			by("cluster", "TestOwnRun", "cluster/pods.go", `{Volume: run, Path: "/run", Writable: true}`, `{Volume: run, Path: "/var/run", Writable: true}`),
			by("bootstrap/vip", "TestOwnRun", "bootstrap/vip/vip.go", `[]string{"/run", "/tmp"}`, `[]string{"/tmp"}`)),
		kept("ND-07", "Tests could not make an image of a daemon of a newer release: the machine's C library found no libraries for it.",
			by("test/vm", "TestLinked_OwnInterpreter", "test/vm/image.go", `interpreter, "--list", program`, `"ldd", program`)),
		kept("ND-08", "HAProxy 3.3 and later chose servers at random: the configuration did not say how to balance.",
			by("shared/haproxy", "TestBalance", balancer, "    balance roundrobin\n", "")),
	}
}
