package scars

// supervisors is what a hostile network and a host that has run out of something must not do to
// keepalived's parent.
func supervisors() []Scar {
	const (
		supervise = "cmd/onprem-supervise"
		host      = "shared/host/supervise"
		interval  = "shared/host/supervise/interval.go"
		health    = "shared/host/supervise/health.go"
		untracked = "shared/host/supervise/untracked.go"
		tracking  = "shared/host/supervise/tracking.go"
		files     = "shared/host/file"
		write     = "shared/host/file/write.go"
		doctor    = "shared/doctor"
		limits    = "shared/doctor/limits.go"
	)
	return []Scar{
		kept("SU-01", "One forged VRRPv3 advert with a peer's address and a long interval kept every router silent for two minutes.",
			by(supervise, "TestForgedInterval", interval, "s.children.signal(s.daemon.child, unix.SIGHUP))", "s.children.signal(s.daemon.child, unix.SIGCONT))"),
			by(supervise, "TestForgedInterval_Backup", interval, "s.children.signal(s.daemon.child, unix.SIGHUP))", "s.children.signal(s.daemon.child, unix.SIGCONT))"),
			by("shared/host/overhear", "TestSlower", "shared/host/overhear/slower.go", "if family == unix.AF_INET {\n\t\tbegin =", "if family == unix.AF_INET6 {\n\t\tbegin ="),
			by(host, "TestAdoption", interval, "if d.interval > slowest {", "if d.interval > slowest && a.Interval > slowest {"),
			by(host, "TestElection_Adopts", interval, "(e.peers == nil || slices.Contains(e.peers, a.From))", "(e.peers == nil || !slices.Contains(e.peers, netip.Addr{}))")),
		kept("SU-02", "A genuine holder with another profile's interval had its VIP taken, as its interval was undone.",
			by(supervise, "TestGenuineInterval", interval, "if a.Interval > slowest {", "if a.Interval > 0 {")),
		kept("SU-03", "With /run full the holder gave its VIP up at its next change of state.",
			by(supervise, "TestFullRunDirectory_Holder", "shared/host/supervise/bonus.go", "file.Update(s.bonusFile(name)", "file.WriteIfChanged(s.bonusFile(name)"),
			by(files, "TestUpdate", write, "if inPlace(path, data) != nil {", "if true {"),
			by(files, "TestUpdate", write, "err = f.Truncate(int64(len(data)))", "err = nil")),
		kept("SU-04", "With /run full no restart of the supervisor worked.",
			by(supervise, "TestFullRunDirectory_Start", "shared/host/supervise/fifo.go", "err != nil && (there != nil || info.Mode().Type() != fs.ModeNamedPipe)", "err != nil && (there != nil || info.Mode().Type() == fs.ModeNamedPipe)"),
			by(supervise, "TestFullRunDirectory_Start", "shared/host/supervise/speaker.go", "len(children) != 1 {", "len(children) != 0 {")),
		kept("SU-05", "With one inotify instance left keepalived tracked nothing, silently.",
			by(supervise, "TestInotify_OneLeft", untracked, "if u.beats++; u.beats < untrackedBeats {", "if u.beats++; u.beats > 0 {"),
			by(host, "TestTracking_Differs", tracking, "return fault || is.Priority != want", "return fault"),
			by(host, "TestReadTracking", tracking, "if !r.reported {", "if r.reported && false {")),
		kept("SU-06", "With no inotify instance left the supervisor did not start, and nobody said why.",
			by(supervise, "TestInotify_NoneLeft", "shared/host/supervise/supervise.go", `s.keep(serving, "watch files", s.watchFiles)`, "s.serve(func() error { return s.watchFiles(serving) })"),
			by(supervise, "TestInotify_OtherVIPs", "cmd/onprem-supervise/cluster.go", "case wake <- struct{}{}:\n\t\tdefault:", "default:"),
			by(doctor, "TestChecks", limits, `if l.Unwatchable != "" {`, `if l.Unwatchable == "?" {`),
			by(doctor, "TestChecks", limits, "|| l.Files < leastFiles {", "{")),
		kept("SU-07", "A keepalived without an instance was killed every 30 s.",
			by(supervise, "TestRunsWithoutAnInstance", "shared/host/supervise/speaker.go", "mute: !d.spoke && s.order.instances > 0,", "mute: !d.spoke,")),
		kept("SU-08", "Six connections that send nothing kept kubelet's probe waiting until it killed keepalived's container.",
			by(supervise, "TestHealth_IdleConnections", health, "\t\ts.servants.Go(func() {\n\t\t\tdefer open.close(c)\n\t\t\ts.answerOne(c)\n\t\t})", "\t\ts.answerOne(c)\n\t\topen.close(c)"),
			by(supervise, "TestHealth_IdleConnections", health, "if len(k.open) == maxConnections {\n\t\tk.open[0].Close()", "if len(k.open) == maxConnections {\n\t\tc.Close()")),
		kept("SU-09", "An advert that came after keepalived had ended kept its parent busy with a whole processor.",
			by("shared/host/supervise", "TestUndoes_NoDaemon", "shared/host/supervise/interval.go", "\t\treturn time.Time{} // there is no keepalived that waits\n", "")),
		kept("SU-10", "One failure read otherwise each time, by the name of a temporary file, and was logged each second.",
			by("shared/host/file", "TestWrite_AlikeErrors", "shared/host/file/write.go", "\t\treturn at.Err\n", "\t\treturn err\n")),
		kept("SU-11", "The rules against adverts that have passed a router were missing, and neither status nor doctor knew.",
			by(supervise, "TestFarAdverts_NoRules", "shared/host/supervise/far.go", "\ts.note(\"drop adverts that have passed a router\", err)\n", "\t_ = err\n")),
		kept("SU-12", "Each look at the rules against far adverts had all chains of the host listed.",
			by("shared/host/nft", "TestFarFilter_ManyChains", "shared/host/nft/vrrp.go", "\thave, err := c.ListChain(t, want.name)\n", "\t_, _ = c.ListChainsOfTableFamily(t.Family)\n\thave, err := c.ListChain(t, want.name)\n")),
		kept("SU-13", "VIPs that could not be removed when keepalived ended degraded the host for ever, also when they were long gone.",
			by(supervise, "TestTroubles_Clean", "shared/host/supervise/speaker.go", "\ts.removeVIPs(\"its VRRP process ended\")\n", "\ts.note(\"remove addresses\", s.strip(\"its VRRP process ended\"))\n")),
		kept("SU-14", "A pid file that could not be removed degraded the host for ever, also while keepalived ran in spite of it.",
			by(supervise, "TestTroubles_PIDFile", "shared/host/supervise/daemon.go", "s.note(oldPIDFiles, nil) ", "")),
		kept("SU-15", "A receipt of adverts that was ended while it failed degraded the host for ever.",
			by(host, "TestKeep_Cancelled", "shared/host/supervise/trouble.go", "\t\tdefer s.troubles.forget(task)\n", "")),
		kept("SU-16", "A request to leave ended while its demotion could not be undone: the host counted as staying, and kept the lowest priority.",
			by(supervise, "TestStay_Unwritable", "shared/host/supervise/request.go", " || err != nil && s.daemon != nil {", " {")),
		kept("SU-17", "A configuration was reported as applied of which keepalived could not be told.",
			by(host, "TestDrive_SignalFails", "shared/host/supervise/daemon.go", "\t\tif err := s.children.signal(s.daemon.child, unix.SIGHUP); err != nil {\n", "\t\ts.daemon.loaded, s.status.Applied = s.inForce, s.inForce\n\t\tif err := s.children.signal(s.daemon.child, unix.SIGHUP); err != nil {\n")),
		kept("SU-18", "A start or a release that failed was tried again without a pause.",
			by(host, "TestDue_Past", "shared/host/supervise/loop.go", "t.After(s.turnAt) && t.Before(next)", "t.Before(next)")),
		kept("SU-19", "A router with our ID on another link had a BACKUP reloaded each second.",
			by(supervise, "TestForeignInterval_OtherLink", interval, "(e.link == \"\" || a.Link == e.link) && ", "")),
		kept("SU-20", "A router that sent a longer interval again and again had keepalived reloaded each second, so that it could never take over.",
			by(supervise, "TestForeignInterval_Brake", interval, "max(undoPause, u.pace.next(now.Sub(u.last)))", "max(undoPause, 0*u.pace.next(now.Sub(u.last)))")),
		kept("SU-21", "Nothing kept the comparison of priorities from reloading a healthy keepalived.",
			by(supervise, "TestTracking_Healthy", tracking, "\t\tpriority += product\n", "\t\tpriority += product * f.weight\n")),
	}
}
