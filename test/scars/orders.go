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
	}
}
