package scars

// handovers are what moving a VIP must keep beside the scars: never none and never two for long, clients that hear of it, and a word to the cluster
// in time.
func handovers() []Scar {
	const (
		supervise = "cmd/onprem-supervise"
		hush      = "shared/host/nft/hush.go"
		told      = "bootstrap/vip/notice.go"
	)
	return []Scar{
		kept("T-01", "The holder waited for one whom it cannot hear, and two held the VIP for long.",
			by(supervise, "TestLeavesUnheard", "shared/host/supervise/request.go", "s.masters() > 0 && now.Before(s.leaveBy)", "s.masters() > 0"),
			by("shared/host/supervise", "TestPatience", "shared/vrrp/timing.go", "Grace = 200", "Grace = 2000")),
		kept("T-02", "Clients of the VIP were told nothing when it moved, and what they only listened to was silent for minutes.",
			by(supervise, "TestSessionsEnd", "shared/host/supervise/session.go", "\t\terr = errors.Join(err, link.Lend(vip))\n", ""),
			by(supervise, "TestSessionsEnd", "shared/host/supervise/leave.go", "\t\ts.farewell() //", "\t\t_ = s.farewell //"),
			by("shared/host/link", "TestReset", "shared/host/link/session.go", "families := []uint8{unix.AF_INET6}", "families := []uint8{}")),
		kept("T-03", "Who ended its sessions claimed the VIP a last time, or for longer when it was killed, or took what was on its way to the new holder.",
			by("shared/host/nft", "TestHush", hush, "{nftables.TableFamilyARP, arpOutput, nftables.ChainPriorityFilter, arpSender,", "{nftables.TableFamilyARP, arpOutput, nftables.ChainPriorityFilter, 24,"),
			by("shared/host/nft", "TestHush", hush, "hushTime = 2 * time.Second", "hushTime = 200 * time.Second"),
			by("shared/host/nft", "TestHush", hush, "destination, local()}", "destination, nil}")),
		kept("T-04", "The cluster was told that the bootstrap machine is gone while it still held the VIP.",
			by("bootstrap/vip", "TestYield", "bootstrap/vip/apply.go", "\tif d.Yield {\n", "\tr.host.Publish(nil)\n\tif d.Yield {\n")),
		kept("T-05", "The cluster heard too late of the bootstrap machine, or for ever of one that is gone.",
			by("bootstrap/vip", "TestNotice", told, "\t\treturn noticeRetry, err", "\t\treturn NoticeEvery, err"),
			by("bootstrap/vip", "TestNotice", told, "beat = uint64(n.now().Unix())", "beat = 1")),
		kept("T-06", "The supervisor was put where it belongs, and could not be executed.",
			by(supervise, "TestInstall", "cmd/onprem-supervise/main.go", "self, 0o755", "self, 0o644")),
		kept("T-07", "A connection that reached the one who hands over in the instant of the move timed out.",
			by("cmd/onprem-supervise", "TestServesOn", "shared/host/supervise/request.go", "\t\ts.lend()\n", "")),
		kept("T-08", "The bootstrap machine left before a node that had just begun could speak, and nobody had the VIP.",
			by("shared/simulate", "TestHandOverToWhoJustBegan", "shared/simulate/supervisor.go", "max(patience, vrrp.Standing)", "max(patience, 0)"),
			by(supervise, "TestLeavesPatiently", "shared/host/supervise/request.go", "now.Add(max(s.order.patience, s.Patience))", "now.Add(s.order.patience)"),
			by("bootstrap/vip", "TestWaitsForWhoBegins", "shared/plan/keepalived.go", "if p.VRRP.ControlPlane.Holder != 0 {", "if true {"),
			by("cluster/mco", "TestBootstrapWaits", "shared/plan/keepalived.go", "if p.VRRP.ControlPlane.Holder != 0 {", "if false {")),
	}
}
