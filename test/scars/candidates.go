package scars

// listed is what becomes of the lists that nodes leave for each other when releases, clocks and
// credentials are not as usual.
func listed() []Scar {
	const (
		candidates = "cluster/candidates"
		reader     = candidates + "/reader.go"
		writer     = candidates + "/writer.go"
		command    = "cmd/onprem-infra"
	)
	return []Scar{
		partly("HO-11", "After a rollback of the control plane its workers went for ever by a list that nobody wrote any more.",
			"A running node notices 15 minutes after the last renewal: until then a change of the candidates does not reach it.",
			by(candidates, "TestReader_Rollback", reader, "case now.Sub(r.renewed) < kept:", "case r.says:"),
			by(candidates, "TestReader_Rollback", reader, "r.renewed = written //", "_ = written //"),
			by(candidates, "TestReader_Rollback", reader, "r.renewed = r.renewed.Add(gap)", "_ = gap"),
			by(candidates, "TestRenewed_ByTheNext", writer, "if there && due > 0 && ", "if there && "),
			by(candidates, "TestOneWrites", writer, "w.serial = max(w.serial+1, uint64(now.Unix()))", "w.serial++"),
			by(command, "TestCandidates_Rollback", reader, "case now.Sub(r.renewed) < kept:", "case r.says:")),
		kept("HO-12", "A list with the highest number that there is could never be replaced.",
			by(candidates, "TestNumberAtItsBound", reader, ".After(now.Add(ahead))", ".IsZero()"),
			by(candidates, "TestNewest_Ahead", reader, ".After(now.Add(ahead))", ".IsZero()")),
		kept("HO-13", "A node whose credentials name no Node told nobody that the bootstrap machine was gone.",
			by("cluster/vip", "TestTellGone", "cluster/vip/learn.go", "		return r.Itself(s)\n", "		return s.Self\n")),
		kept("HO-14", "A control plane node took the bootstrap machine for gone before it had read what that machine said itself.",
			by(command, "TestTellGone", command+"/monitor_vip_host.go", "return left, heard\n", "return left, heard || left.Left\n")),
		kept("HO-15", "The first list that an upgraded control plane node wrote of more nodes than it has room for lacked the ingress VIP's holder.",
			by(candidates, "TestFirstList_KeepsTheFormer", writer, "!(s.RoutersHeard && s.Former.Heard)", "!s.RoutersHeard")),
		partly("HO-16", "With timing compat each worker of a cluster listed all Nodes past the API server's cache.",
			"A server that does not page what it remembers sends all Nodes at once: some 200 MB of memory for a moment at 5,000 Nodes.",
			by("test/kubeapi", "TestCrowdList_FromCache", "shared/host/kube/source.go", "case !s.crowd:", "case true:"),
			by("shared/host/kube", "TestList_FromMemory", "shared/host/kube/source.go", "case !s.crowd:", "case true:")),
		kept("HO-17", "A sixth control plane node had no rank for a dead one's sake, and nothing named the dead one.",
			by("shared/doctor", "TestChecks", "shared/doctor/vips.go", "taken[rank], dead = true, append(dead, m)", "taken[rank] = true"),
			by("cluster/vip", "TestMoreNodesThanRanks", "cluster/vip/rank.go", "			if !n.Down.IsZero() {", "			if false {"),
			by("shared/host/kube", "TestSlimNode", "shared/host/kube/node.go", ", LastTransitionTime: c.LastTransitionTime})", "})")),
		kept("HO-18", "A flood of forged mDNS answers took all the processor time that CoreDNS could get.",
			by("cmd/onprem-coredns/mdns", "TestFlood", "cmd/onprem-coredns/mdns/ears.go", "restsPerJob*time.Since(began)", "0*time.Since(began)")),
	}
}
