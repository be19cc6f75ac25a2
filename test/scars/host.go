package scars

// hosts is what is asked of a machine among others, beside the scars: a VIP that a stranger holds is seen, said and not fought over.
func hosts() []Scar {
	const (
		supervise = "cmd/onprem-supervise"
		host      = "shared/host/supervise"
		orphan    = "shared/host/supervise/orphan.go"
		neighbour = "shared/host/link/neighbour.go"
		claim     = "bootstrap/vip/claim.go"
		decide    = "bootstrap/vip/decide.go"
		apply     = "bootstrap/vip/apply.go"
		certain   = "!d.Asking && len(d.Taken) == 0"
	)
	return []Scar{
		kept("V-01", "Another host held the VIP, and the question for it went nowhere or out by another link.",
			by("shared/host/link", "TestNeighbour/IPv4", neighbour, "const discard = 9", "const discard = 0"),
			by("shared/host/link", "TestNeighbour/IPv6", neighbour, "const discard = 9", "const discard = 0"),
			by("shared/host/link", "TestAskOnTheLink", neighbour, "unix.Sendmsg(socket, nil, by, to, 0)", "unix.Sendmsg(socket, nil, by[:0], to, 0)")),
		kept("V-02", "What nobody has answered was taken for an answer: an entry made by hand, a question on its way, an absence of long ago.",
			by("shared/host/link", "TestNeighbour/IPv4", neighbour, "case e.State&(netlink.NUD_PERMANENT|netlink.NUD_NOARP) != 0:", "case e.State&netlink.NUD_NOARP != 0:"),
			by("shared/host/link", "TestNeighbour/IPv6", neighbour, "case e.State&netlink.NUD_FAILED != 0:", "case e.State&(netlink.NUD_FAILED|netlink.NUD_INCOMPLETE) != 0:"),
			by("bootstrap/vip", "TestClaimKnown", claim, "found.Absent && !first ||", "found.Absent ||")),
		kept("V-03", "A VIP that another host held was fought over, each taking the other's connections, or the other family's VIP was given up with it.",
			by("bootstrap/vip", "TestDecide/a VIP that another host holds is left to him", decide, `holder.MAC != ""`, `holder.MAC == "?"`),
			by("bootstrap/vip", "TestDecide/and the other VIP does not suffer", decide, "append(why, taken)\n\t\t\tcontinue", "append(why, taken)\n\t\t\tbreak")),
		kept("V-04", "The unit was ready while another host held the VIP, or still could.",
			by("bootstrap/vip", "TestApplyTaken", apply, certain, "!d.Asking"),
			by("bootstrap/vip", "TestApplyTaken", apply, certain, "len(d.Taken) == 0")),
		kept("V-05", "A VIP that was ours before was doubted when a master had it, after a restart or a reboot, and not taken back.",
			by("bootstrap/vip", "TestClaimFree", claim, "c.open = slices.DeleteFunc(c.open, func(other netip.Addr) bool { return other == vip })", "_ = c.open"),
			by("bootstrap/vip", "TestClaimOwn", claim, "case present(links, vip):", "case false:"),
			by("cmd/onprem-infra", "TestMemorySettledVIPs", "cmd/onprem-infra/bootstrap_memory.go", "func (m memory) settle(vips []netip.Addr) error { return", "func (m memory) settle(vips []netip.Addr) error { vips = nil; return")),
		kept("V-06", "The holder answered late, and nobody heard him before keepalived had the VIP too.",
			by("bootstrap/vip", "TestClaimLateAnswer", claim, "else if !maps.Equal(*last, claims)", "else if last == &claims")),
		kept("V-07", "The cable was out, and the holder counted as gone; or a router was asked for what lies behind it.",
			by("bootstrap/vip", "TestClaimTaken", claim, "maps.Copy(claims, *last)", "_ = last"),
			by("bootstrap/vip", "TestClaimNowhereToAsk/the VIP is behind a router", claim, "case !choice.OnLink:", `case choice.Link == "":`)),
		kept("V-08", "What failed for one VIP, or could not be written down, was not made good later.",
			by("bootstrap/vip", "TestClaimFaults", claim, "if !c.unsaved {", "if c.unsaved = c.unsaved && c.waited; !c.unsaved {")),
		kept("V-09", "keepalived counted its priority anew in a reload, told it, and the VIP was taken off its holder.",
			by(supervise, "TestReloadWithHealth", "shared/host/supervise/notify.go", `"BACKUP_PRIORITY":     "",`, `"BACKUP_PRIORITY":     supervised.Backup,`)),
		kept("V-10", "Who took a VIP did not know where its peers are, and asked for a second before the former holder heard it.",
			by(host, "TestWarmth", "shared/host/supervise/warm.go", "next.After(w.at) {", "next.Before(w.at) {"),
			by(supervise, "TestKnowsItsPeers", "shared/host/supervise/loop.go", "\ts.warm(now)\n", "")),
		kept("V-11", "keepalived was killed with its supervisor, and two had the VIP until their container's next start; or nobody else wanted it, and it went.",
			by(supervise, "TestOutlived", orphan, "return absent, o.strip(order.contested())", "return absent, nil"),
			by(supervise, "TestOutlived", orphan, "Sub(now); left > 0 {", "Sub(now); left > time.Hour {"),
			by(supervise, "TestOutlivedAlone", orphan, "if !o.alone[name] {", `if name != "" {`),
			by("shared/simulate", "TestScenarios", "shared/simulate/supervisor.go", "\tif h.monitor {\n\t\tw.strip", "\tif !h.monitor {\n\t\tw.strip")),
		kept("V-12", "Containers came and went, and each change of the network had everything read anew.",
			by("shared/host/link", "TestPace", "shared/host/link/watch.go", "rest.Reset(calm)", "rest.Reset(0)"),
			by(host, "TestChurn", "shared/host/supervise/churn.go", "c.until = now.Add(restless)", "c.until = now")),
	}
}
