package scars

// orders are about what stands beside ours on a host of OpenShift: other units, other static pods, other files.
func orders() []Scar {
	const (
		matrix = "test/matrix"
		nodeIP = "units/nodeip-configuration.service"
	)
	return []Scar{
		kept("OR-01", "What installs waited for the network that waited for the node's addresses: systemd left kubelet out of the boot.",
			by(matrix, "TestBootOrder", "cluster/assets.go", "return units.NetworkManagerOnline", "return units.NetworkOnline")),
		kept("OR-02", "The node's addresses waited for an update of the system that waited for the network after them.",
			by(matrix, "TestBootOrder", nodeIP, "\nAfter=NetworkManager-wait-online.service onprem-install.service\n",
				"\nAfter=NetworkManager-wait-online.service firstboot-osupdate.target onprem-install.service\n")),
		kept("OR-03", "On vSphere a second unit chose the node's addresses and wrote the same files.",
			by(matrix, "TestOneChoice", "cluster/assets.go", "\t\tb.Unit(units.VSphereUPI())\n", "")),
		kept("OR-04", "Arbiters kept keepalived's scripts, which nothing ran.",
			by(matrix, "TestOver", "cluster/mco/names.go", `{"master/00-master", "arbiter/00-arbiter"} {`, `{"master/00-master"} {`)),
		kept("OR-05", "Nodes kept a file that said in which mode the operator's keepalived speaks.",
			by(matrix, "TestOver", "cluster/mco/names.go", `"keepalived-flip-mode.yaml", "baremetal-keepalived-flip-mode.yaml")`, `"keepalived-flip-mode.yaml")`)),
		kept("OR-06", "OpenShift's controllers changed the namespace's pod security levels, or kept its pods from nodes.",
			by("cluster", "TestNamespaceOnOpenShift", "cluster/objects.go", "\tmaps.Copy(labels, p.Flavour().NamespaceLabels)\n", "\t_ = maps.Copy[map[string]string, map[string]string]\n")),
		kept("OR-07", "Two VRRP routers, and two servers on port 53, on a bootstrap machine whose operator had brought its own static pods.",
			by("cmd/onprem-infra", "TestLeavesToStaticPod", "cmd/onprem-infra/bootstrap.go", "\tif m.static != \"\" {\n", "\tif false {\n")),
		kept("OR-08", "Nobody said that the operator's keepalived had the place of ours, which nodes of another timing do not understand.",
			by("shared/doctor", "TestChecks", "shared/doctor/statics.go", "\t\tif s.Ours {\n", "\t\tif true {\n")),
		kept("OR-09", "Status and doctor looked for our daemons where the operator's had their places.",
			by("cmd/onprem-infra", "TestStaticPods", "cmd/onprem-infra/doctor_look.go", `runs.VIP && !l.host.given("keepalived")`, `runs.VIP`)),
		kept("OR-10", "With systemd 254 and later, ours were restarted for ever beside the static pods that had their places.",
			by("units", "TestDaemons", "units/onprem-keepalived.service", "ExecCondition=/usr/bin/test ! -e /etc/kubernetes/manifests/keepalived.yaml\n", "")),
	}
}
