package scars

func rights() []Scar {
	const (
		member  = "shared/addr/member.go"
		rank    = "cluster/vip/rank.go"
		reader  = "cluster/candidates/reader.go"
		learn   = "cluster/vip/learn.go"
		granted = "cluster/rights.go"
		node    = "shared/host/kube/node.go"
		command = "cmd/onprem-infra"
	)
	return []Scar{
		kept("RI-01", "Any kubelet emptied the list of candidates, and the ingress VIP was gone from the cluster.",
			by(command, "TestHostileKubelet", command+"/monitor_vip_host.go", "!says && exists", "exists && len(data) > 0"),
			by("cluster/candidates", "TestReader_Former", reader, "if r.serial == 0 {", "if true {"),
			by("cluster/candidates", "TestReader", reader, "now.Sub(r.older) >= backwards", "true")),
		kept("RI-02", "The first kubelet to create the bootstrap machine's object became a peer of every control plane node.",
			by("cluster", "TestRights_Never", granted, `Verbs: []string{"update"}`, `Verbs: []string{"update", "create"}`),
			by("cluster", "TestReadme_Rights", granted, `Verbs: []string{"update"}`, `Verbs: []string{"update", "create"}`),
			by(command, "TestTellGone", command+"/monitor_vip_gone.go", "notice.Gone", `""`)),
		kept("RI-03", "A worker's word about the control plane was believed.",
			by(command, "TestHostileKubelet", node, "	if node.ControlPlane {\n		node.List", "	if true {\n		node.List")),
		kept("RI-04", "One worker gave every node 15,000 peers.",
			by("shared/addr", "TestMembers_Bounded", member, "if len(all) == PerFamily {", "if false {"),
			by("shared/addr", "TestPast_Bounded", "shared/addr/past.go", "all[max(0, len(all)-mostFormer):]", "all"),
			by("shared/host/kube", "TestAnnotated_Bounded", node, "entries[:min(len(entries), mostAnnotated)]", "entries"),
			by("cluster/vip", "TestPeers_Bounded", learn, "all[:min(len(all), 2*addr.PerFamily)]...", "all..."),
			by("cluster/vip", "TestPeers_Bounded", learn, "members[:min(len(members), mostPeers)]", "members")),
		kept("RI-05", "A worker that claimed a control plane node's address had that node take itself for the worker.",
			by("cluster/vip", "TestItself_HostileWorker", rank, "		nodes = ControlPlane(nodes)\n	}\n	return Self", "	}\n	return Self"),
			by("cluster/vip", "TestItself_HostileWorker", "cluster/vip/observe.go", "	s.Self = r.cluster.Self()\n", "	s.Self = Self(r.memory.Nodes, s.Links, r.vips())\n")),
		kept("RI-06", "One worker could hold a migration up for ever, and nobody could leave it out.",
			by(command, "TestHostileKubelet", node, "labelRemoteOwn, labelApart)", "labelRemoteOwn)")),
	}
}
