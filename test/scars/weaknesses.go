package scars

// weaknesses are those of today's code that a test keeps this one from.
func weaknesses() []Scar {
	const (
		nodes    = "cluster/vip"
		template = "shared/keepalived/keepalived.conf.tmpl"
		sources  = "    check_unicast_src\n"
		nobodys  = "    # check_unicast_src\n"
		near     = "{{if $near}} min_ttl 255{{end}}"
	)
	return []Scar{
		kept("W-7", "A resolver that hung was left for 50 to 110 s.",
			by("cluster", "TestProbeBudgets", "cluster/pods.go", `Liveness: asks(p, port.CoreDNSHealth, "/health", 3)`, `Liveness: asks(p, port.CoreDNSHealth, "/health", 10)`)),
		kept("W-9", "A client's timeout cut each watch: all Nodes were told anew all the time, and one that was deleted meanwhile stayed.",
			by("test/kubeapi", "TestResumes", "shared/host/kube/resume.go", "\treturn version, nil\n}\n\nfunc (r *resumed) pass", "\treturn version, errAnother\n}\n\nfunc (r *resumed) pass"),
			by("shared/host/kube", "TestClientHasNoTimeoutAndNoProxy", "shared/host/kube/access.go", "config.NextProtos = a.protocols", "config.NextProtos, config.Timeout = a.protocols, 30e9"),
			by("shared/host/kube", "TestForgottenVersionListsAgain", "shared/host/kube/store.go", "\tt.all, t.synced = all, true", "\tmaps.Copy(all, t.all)\n\tt.all, t.synced = all, true"),
			by("shared/host/kube", "TestSlimNode", "shared/host/kube/node.go", "if c.Type == corev1.NodeReady {\n\t\t\tready", "if c.Type != corev1.NodeReady {\n\t\t\tready")),
		kept("W-10", "The balancer's monitors listed all Nodes every few seconds.",
			by("shared/host/kube", "TestSteadyStateListsNothing", "shared/host/kube/resume.go", "\t\t\tversion = seen", "\t\t\t_ = seen"),
			by("test/kubeapi", "TestListInPages", "shared/host/kube/source.go", "metav1.ListOptions{Limit: page}", "metav1.ListOptions{}")),
		kept("W-11", "What had been seen of a list that was on its way was taken for the whole.",
			by("shared/host/kube", "TestBadListsAreNoLists", "shared/host/kube/store.go", "return maps.Clone(t.all), t.synced", "return maps.Clone(t.all), true")),
		kept("W-14", "A monitor ended over an error that passed, and its last word kept the VIP on a broken node.",
			by(nodes, "TestLocalFirst", "cluster/vip/observe.go", "\tif !r.health.Alive() {", "\tif false {"),
			by(nodes, "TestChecksEarlier", "cluster/vip/checks.go", "Passes: before(name)", "Passes: false"),
			by("cluster", "TestProbes", "cluster/pods.go", `Liveness: asks(p, port.LBStats, "/haproxy_alive", 3)`, `Liveness: asks(p, port.MonitorLB, "/haproxy", 3)`),
			by("cluster", "TestProbes", "cluster/pods.go", `Liveness: asks(p, port.Supervise, "/healthz", 3)`, `Liveness: asks(p, port.MonitorVIP, "/keepalived", 3)`),
			by("shared/host/supervise", "TestEar", "shared/host/supervise/track.go", `return e.last != "" && now.Sub(e.at) >= vrrp.Silence`, "return false"),
			by("cmd/onprem-supervise", "TestSilentMonitor", "shared/host/supervise/track.go", "\treturn s.dropBonuses()\n", "\treturn nil\n"),
			by("cmd/onprem-supervise", "TestSilentMonitor", "shared/host/supervise/track.go", "e.Name() == supervised.LeaveTrack || ", "")),
		kept("W-19", "A rule was known by its comment alone: with another VIP or port it stayed what it was.",
			by("shared/host/nft", "TestContent/another VIP", "shared/host/nft/nft.go", "\t\tif !bytes.Equal(a, b) {", "\t\tif !bytes.Equal(a, b) && len(a) != len(b) {"),
			by("shared/host/nft", "TestForeignHand", "shared/host/nft/nft.go", "\tif len(have) != len(wanted) {", "\tif len(have) < len(wanted) {")),
		kept("W-25", "A misspelt word of a manifest, or one in the wrong place, meant nothing.",
			by("shared/pod", "TestRoundTrip", "shared/pod/render.go", "\tdelete(document, \"status\")\n", "\tdelete(document, \"status\")\n\tdocument[\"empty-dir\"] = true\n"),
			by("cluster", "TestConventions", "shared/pod/render.go", "\t\tTerminationGracePeriodSeconds: &seconds,\n", "\t\tActiveDeadlineSeconds: &seconds,\n"),
			by("cluster", "TestHostPaths", "shared/pod/container.go", "return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &limit}}", "_ = limit\n\t\treturn corev1.VolumeSource{}")),
		partly("W-28", "A cluster of one node, or what was left of one after a restart, had no instance.",
			"A node that the API names alone in a highly available control plane waits for a second one: before there are two, nobody knows who else stands.",
			by(nodes, "TestEveryNumberOfNodes", "shared/plan/nodes.go", "small := []spec.Topology{spec.SingleReplica, ", "small := []spec.Topology{"),
			by(nodes, "TestAPIAway", "cluster/vip/vip.go", "`json:\"nodes\"`", "`json:\"-\"`")),
		partly("W-30", "Any host of the network could outrank the holder.",
			"The password is today's, which nodes of today must understand: it is no secret. A host that forges a peer's address is heard.",
			by("test/daemons", "TestKnown", template, sources, nobodys),
			by("test/daemons", "TestKnown", template, near, "")),
		kept("W-31", "Adverts of hosts that are no peers were believed.",
			by("test/daemons", "TestKnown", template, sources, nobodys),
			by("test/daemons", "TestKnown", "shared/host/nft/vrrp.go", "Data: []byte{nearTTL}", "Data: []byte{nearTTL - 1}"),
			by(nodes, "TestKnown", "cluster/vip/learn.go", "if s.At.Sub(r.held[name]) >= reign {", "if true {")),
	}
}
