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
			by("cluster/candidates", "TestReader_Former", reader, "case now.Sub(r.renewed) < kept:", "case false:"),
			by("cluster/candidates", "TestReader", reader, "now.Sub(r.older) >= backwards", "true")),
		kept("RI-02", "The first kubelet to create the bootstrap machine's object became a peer of every control plane node.",
			by("cluster", "TestRights_Never", granted, `Verbs: []string{"update"}`, `Verbs: []string{"update", "create"}`),
			by("cluster", "TestReadme_Rights", granted, `Verbs: []string{"update"}`, `Verbs: []string{"update", "create"}`),
			by(command, "TestHostileKubelet", granted, `Verbs: []string{"update"}, Group: object.CoreGroup, Resource: "configmaps", Namespace: p.Namespace, Names: []string{notice.Candidates},`,
				`Verbs: []string{"update", "create"}, Group: object.CoreGroup, Resource: "configmaps", Namespace: p.Namespace,`),
			by(command, "TestTellGone", command+"/monitor_vip_gone.go", "c.gone.write(node, notice.Gone)", "_ = notice.Gone")),
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
			by("cluster/vip", "TestItself_HostileWorker", rank, `if s.Self != "" {`, "if false {")),
		kept("RI-06", "One worker could hold a migration up for ever, and nobody could leave it out.",
			by(command, "TestHostileKubelet", node, "labelRemoteOwn, labelApart)", "labelRemoteOwn)")),
		kept("RI-07", "After an outage of the API all nodes came back in one second, and listed past its cache.",
			by("shared/host/kube", "TestCrowd_Outage", "shared/host/kube/backoff.go", "if !f.crowd {", "if true {"),
			by("shared/host/kube", "TestCrowd_Outage", "shared/host/kube/resume.go", "if err == nil && time.Since(began) < steady {", "if false {"),
			by("shared/host/kube", "TestCrowd_EndedInOrder", "shared/host/kube/resume.go", "		case ctx.Err() != nil:\n", "		case err == nil || ctx.Err() != nil:\n"),
			by("shared/host/kube", "TestList_FromMemory", "shared/host/kube/source.go", "metav1.ListOptions{ResourceVersion: options.ResourceVersion}", "metav1.ListOptions{}")),
		kept("RI-08", "A node that lacked a right said so nowhere but in its log.",
			by(command, "TestMissingRights", command+"/rights.go", "lacks = lacks || !may", "_ = may"),
			by(command, "TestMissingRights", "shared/host/kube/rights.go", "if one.right {", "if one.right && false {"),
			by(command, "TestStatus_MissingRight", command+"/status_verdict.go", "range r.Rights", "range r.Rights[:0]")),
		kept("RI-09", "Clusters of an operator with our templates gave their nodes no right.",
			by("cluster/mco", "TestInstall", "cluster/mco/mco.go", "	install(&b, first[0].plan)\n", ""),
			by("test/kubeapi", "TestInstall", "cluster/mco/install.go", "cluster.Grants(p)", "cluster.Grants(p)[:2]")),
	}
}
