package scars

func elections() []Scar {
	const (
		nodes  = "cluster/vip"
		learn  = "cluster/vip/learn.go"
		decide = "cluster/vip/decide.go"
		gate   = "if e.kind != vrrp.Ingress && !r.memory.Open {"
	)
	return []Scar{
		kept("E-01", "A node that had not seen the API work stood for its VIP, and took it from the bootstrap machine.",
			by(nodes, "TestGate", decide, gate, "if false {"),
			by("cmd/onprem-infra", "TestServed", "shared/haproxy/stats.go", "s.Backend == Masters && s.Up() && s.Passed()", "s.Backend == Masters && s.Up()"),
			by("test/podvip", "TestNodes", decide, gate, "if false {")),
		kept("E-02", "A gate that had opened was forgotten, and the VIP had no home in an outage of everything.",
			by(nodes, "TestGate", "cluster/vip/vip.go", "`json:\"open\"`", "`json:\"-\"`"),
			by(nodes, "TestGateMemoryLost", learn, "return runs && s.Status.PID != 0", "return runs && false")),
		kept("E-03", "A tracked file that was lost or garbled counted as health.",
			by("cmd/onprem-infra", "TestTrackFiles", "cmd/onprem-infra/monitor_vip_host.go", "return err == nil && string(text) == passing", "return err == nil && string(text) != failing"),
			by("test/daemons", "TestTrackedFault", "shared/keepalived/keepalived.conf.tmpl", "{{if not .Weight}} reverse{{end}}", "")),
		kept("E-04", "Nobody made the checks any more, and their last word stayed.",
			by(nodes, "TestChecksStandStill", "cluster/vip/checks.go", "> p.Interval+p.Timeout+slack", "> p.Interval+time.Hour")),
		kept("E-05", "Whoever could write the bootstrap machine's object had nodes send to any address.",
			by(nodes, "TestGuest", learn, "return !near || a.BitLen()", "return near && false || a.BitLen()")),
		kept("E-06", "A bootstrap machine that had died stayed a peer for ever.",
			by(nodes, "TestGuestGoes", learn, "\tif s.At.Sub(r.boot.since) >= bootstrapSilence {", "\tif false {")),
		kept("E-07", "A worker had to know every node of the cluster to stand for the ingress VIP.",
			by(nodes, "TestCandidates", decide, "\tif !WatchesAll(p) {\n\t\tingress", "\tif false {\n\t\tingress")),
		kept("E-08", "A lost object of the bootstrap machine counted as its farewell: who still held the VIP was not heard, and two held it.",
			by(nodes, "TestGuestGoes", learn, "r.memory.BootstrapGone || b.Left", "r.memory.BootstrapGone || r.boot.seen || b.Left")),
		kept("E-09", "After a reboot a node heard only those whom it had known before, and took the VIP from one who had joined since.",
			by("cmd/onprem-supervise", "TestHearsNewcomersAfterAReboot", "shared/host/supervise/candidate.go", "return known.ReplaceAll(config, nil)", `return known.ReplaceAll(config, []byte("$0"))`)),
		kept("E-10", "The first word of a keepalived that followed another one was undone by the end of the one before.",
			by("shared/host/supervise", "TestSuccessorIsHeardFirst", "shared/host/supervise/loop.go", "\ts.succeeded()\n", "")),
	}
}
