package scars

func part9b() []Scar {
	const (
		assets       = "bootstrap/assets.go"
		vips         = "shared/spec/vips.go"
		install      = "units/onprem-install"
		provisioning = "Provisioning (Ironic, its DHCP and its network) is not a part of this: the VIP is only held while Ironic needs it (K-37)."
		nodes        = "cluster/assets.go"
		container    = "shared/pod/container.go"
		manifest     = "shared/pod/render.go"
	)
	return []Scar{
		kept("P-01", "A status or a list that was absent, or empty, ended the renderer.",
			by("bootstrap", "TestNilIsEmptyIsAbsent", "shared/plan/defaults.go", "append([]netip.Addr{}, c.APIVIPs...)", "c.APIVIPs"),
			by("shared/plan", "TestCompileNothing", "shared/plan/defaults.go", "append([]netip.Addr{}, c.APIVIPs...)", "c.APIVIPs"),
			by("shared/host/kube", "TestNodeAddresses/no address yet", "shared/host/kube/node.go", "out := addr.Node{Name: n.Name}", "out := addr.Node{Name: n.Name}\n\t_ = n.Status.Addresses[0]"),
			by("cluster", "TestNilIsEmptyIsAbsent", "shared/plan/defaults.go", "if len(c.APIVIPs) == 0 {", "if c.APIVIPs == nil {")),
		kept("P-02", "keepalived where there was no VIP.",
			by("bootstrap", "TestUnitsOnlyForWhatRuns", "shared/plan/plan.go", "if len(p.VIPs.API) == 0 {", "if p.VIPs.API == nil {"),
			by("bootstrap", "TestAssets/no VIP", "shared/plan/plan.go", "if len(p.VIPs.API) == 0 {", "if p.VIPs.API == nil {"),
			by("cluster", "TestMatrix/master without VIPs", "shared/plan/nodes.go", "	if len(p.VIPs.API) == 0 {\n		return Rooms{MDNS: mdns}\n	}\n", "")),
		kept("P-03", "Manifests that a condition had emptied.",
			by("bootstrap", "TestNothingIsEmpty", assets, "	if vip {\n", "	b.File(\"/etc/keepalived/empty.conf\", 0o644, nil)\n	if vip {\n"),
			by("cluster", "TestNothingIsEmpty", nodes, "b.File(path.Join(dir, s.Name+\".yaml\"), 0o644, pod.Render(s))", "b.File(path.Join(manifests, s.Name+\".yaml\"), 0o644, map[bool][]byte{false: pod.Render(s)}[dir == disabled])")),
		kept("P-04", "A namespace was missing.",
			by("cluster", "TestNamespaceOfPods", "cluster/objects.go", "append([]object.Object{namespace(p)}, Grants(p)...)", "Grants(p)"),
			by("test/kubeapi", "TestPods", "cluster/objects.go", `const level = "privileged"`, `const level = "baseline"`)),
		kept("P-05", "Pods without requests, or with one of 1 GiB.",
			by("cluster", "TestConventions", container, `"memory": "200Mi"`, `"memory": "1Gi"`)),
		kept("P-06", "A security context of somebody else's was applied.",
			by("cluster", "TestConventions", "shared/plan/flavour.go", "			\"openshift.io/required-scc\": \"privileged\",\n", "")),
		kept("P-07", "What changed on the host stayed the old one in a container.",
			by("bootstrap/vip", "TestMountsOfWhatChanges", "bootstrap/vip/vip.go", `{Source: keepalived.HostDir, Target: keepalived.Dir},`, `{Source: keepalived.HostDir + "/" + keepalived.File, Target: keepalived.Dir + "/" + keepalived.File},`),
			by("bootstrap/dns", "TestMountsOfWhatChanges", "bootstrap/dns/dns.go", `{Source: "/etc/coredns", Target: "/etc/coredns", ReadOnly: true}`, `{Source: Config, Target: Config, ReadOnly: true}`),
			by("shared/host/podman", "TestConfinement", "shared/host/podman/generate.go", `[]string{"rbind", "rprivate", access}`, `[]string{"rbind", "rshared", access}`),
			by("cluster", "TestHostPaths", container, `vm.MountPropagation = "HostToContainer"`, `vm.MountPropagation = "None"`)),
		kept("P-08", "A program lost the bit that lets it run.",
			by("bootstrap", "TestModes", "units/units.go", `Path: "/usr/local/bin/onprem-install", Mode: 0o755`, `Path: "/usr/local/bin/onprem-install", Mode: 0o644`),
			by("bootstrap", "TestInstall", install, `chmod 0755 "$work/onprem-infra" "$work/onprem-supervise" &&`, `true &&`),
			by("cluster", "TestModes", nodes, `script+".sh", 0o755`, `script+".sh", 0o644`)),
		kept("P-09", "Copies of one template for each platform drifted apart.",
			by("bootstrap", "TestPlatformsDifferInThePlanOnly", assets, "	if dns {\n", "	if p.Platform == spec.OpenStack {\n\t\tb.File(\"/etc/keepalived/openstack.conf\", 0o644, []byte(\"x\"))\n\t}\n	if dns {\n"),
			by("cluster", "TestPlatformsDifferInNamesOnly", "cluster/pods.go", "options, capabilities := p.Keepalived()\n", "options, capabilities := p.Keepalived()\n\tif p.Platform == spec.OpenStack {\n\t\tcapabilities = capabilities[:1]\n\t}\n")),
		open("B-01", "Two DHCP servers: the provisioning one answered workers.", provisioning),
		open("B-02", "Heuristics for which host is a master: a name, a provider ID.", "Hosts are not told apart here: control plane Nodes are known by their label, and provisioning is not a part of this."),
		open("B-03", "A kernel argument for slow carriers.", provisioning),
		open("B-04", "Ironic asked the proxy for what is near.", provisioning),
		open("B-05", "A terminating pod's address was used.", provisioning),
		open("B-06", "A leftover proxy held Ironic's port.", provisioning),
		open("B-07", "A provisioning address where provisioning was disabled.", provisioning),
		open("B-08", "The callback URL of one family in a dual-stack cluster.", provisioning),
		kept("B-09", "VIPs outside the machine network, or at its ends, were accepted, and good ones refused.",
			by("shared/spec", "TestInstallConfigFindings/VIP is the network", vips, "if v.addr == n.Addr() {", "if false {"),
			by("shared/spec", "TestInstallConfigFindings/VIP is the network's broadcast", vips, "if v.addr.Is4() && v.addr == broadcast(n) {", "if false {"),
			by("shared/spec", "TestInstallConfigFindings/VIP outside the network", vips, "case d.anywhere() || !d.networks.whole:", "case true:"),
			by("shared/spec", "TestInstallConfigFindings/network with host bits", "shared/spec/addresses.go", "case prefix != prefix.Masked():", "case false:"),
			by("shared/spec", "TestMachineNetworks", vips, "if n.Addr().BitLen()-n.Bits() < 2 {", "if false {"),
			by("shared/spec", "TestPlatforms/vsphere, outside", vips, "return d.platform == VSphere || d.platform == Nutanix || d.userManaged()", "return d.userManaged()")),
	}
}
