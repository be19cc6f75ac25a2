package scars

// nodes are what is asked of a node's files beside the scars: who may read them, whose words they take, and that nothing is lost on their way.
func nodes() []Scar {
	const (
		spec   = "shared/spec/nodes.go"
		assets = "cluster/assets.go"
		leave  = "ExecStop=/usr/local/bin/onprem-infra vip leave\n"
	)
	return []Scar{
		kept("A-01", "What somebody wrote about the nodes was not read, or not checked.",
			by("shared/spec", "TestNodes", spec, `	case s.ok && strings.Count(s.value, "/") < 3:`, `	case s.ok && strings.Count(s.value, "/") < 2:`),
			by("test/hostile", "TestCluster", spec, "	if s := n.namespace; s.ok && (!isLabel", "	if s := n.namespace; false && (!isLabel")),
		kept("A-02", "What was compiled was not what a node read.",
			by("shared/plan", "TestRoundTrip", "shared/plan/encode.go", "		\"nodeLabels\":      map[string]string{\"controlPlane\": p.ControlPlaneLabel},\n", ""),
			by("shared/plan", "TestRoundTrip", "shared/plan/encode.go", `if p.knobs.timing != "" {`, "if false {")),
		kept("A-03", "A pod had more of its host than it needs, secrets among it.",
			by("cluster", "TestHostPaths", "cluster/pods.go", `	nodeIP        = pod.Volume{Name: "node-ip", Host: "/run/nodeip-configuration"}`, `	nodeIP        = pod.Volume{Name: "node-ip", Host: "/run"}`)),
		kept("A-04", "A unit executed a file that the host's policy does not let it execute.",
			by("cluster", "TestExecutables", "units/onprem-vip-leave.service", leave, "ExecStop=/etc/kubernetes/static-pod-resources/keepalived/scripts/leave.sh\n")),
		kept("A-05", "A role was refused, or taken for another.",
			by("cmd/onprem-infra", "TestRenderCluster", "cmd/onprem-infra/ignition.go", "kind, err := parseRole(*name)", "kind, err := parseRole(*name, ofCluster)"),
			by("shared/role", "TestParse", "shared/role/role.go", "	if s == string(ControlPlane) {\n		return Master, nil\n	}\n", ""),
			by("cmd/onprem-infra", "TestMonitorRole", "cmd/onprem-infra/monitor.go", "if r, err := role.Parse(m.node); err == nil && slices.Contains(role.Nodes(), r) {", "if r := role.Role(m.node); slices.Contains(role.Nodes(), r) {")),
		kept("A-06", "An image was pulled with credentials that a node does not have there.",
			by("test/render", "TestRender/baremetal-ipv4", assets, `credentials = "/var/lib/kubelet/config.json"`, `credentials = "/root/.docker/config.json"`)),
		kept("A-07", "A node asked the API for what it may not read, once a second, and waited for it.",
			by("cmd/onprem-infra", "TestCandidatesRouters", "cmd/onprem-infra/candidates.go", "if p.Flavour().Routers {", "if p.Flavour().Routers || true {")),
		kept("A-08", "A container that listens to everybody could read the credentials of another one of its pod.",
			by("cluster", "TestConfinement", "cluster/pods.go", "\t\t\tCapabilities: []string{\"KILL\"},\n", "")),
	}
}
