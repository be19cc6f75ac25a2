// Package units holds the systemd units verbatim, and sets values that differ between clusters in
// the parsed unit.
package units

import (
	"embed"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

//go:embed *.service *.path *.conf onprem-install
var files embed.FS

// The units after which the host's network is up.
const (
	NetworkOnline = "network-online.target"
	// NetworkManagerOnline is for the nodes of OpenShift. Its units configure the network after our
	// units that choose the node's addresses, and before network-online.target. So our units must
	// wait for an earlier one.
	NetworkManagerOnline = "NetworkManager-wait-online.service"
)

// kubelet is the name of its unit in our unit files.
const kubelet = "kubelet.service"

// Installer is the script that Install's unit runs.
func Installer() asset.File {
	return asset.File{Path: "/usr/local/bin/onprem-install", Mode: 0o755,
		Contents: text("onprem-install"), By: "units"}
}

// Host is the kind of host that units are made for.
type Host struct {
	OpenShift bool   // it has the units and files in openShifts
	Kubelet   string // the name of kubelet's unit; of cluster nodes only
}

// Install copies our programs from image to the host, before any other unit of ours and after
// online. credentials is the file with the registry's credentials on the host; it may not exist.
func (h Host) Install(image, credentials, online string) asset.Unit {
	return h.unit("onprem-install.service", true, rename("Wants", NetworkOnline, online),
		rename("After", NetworkOnline, online), setEnvironment("ONPREM_INFRA_IMAGE", image),
		setEnvironment("ONPREM_INFRA_AUTH", credentials))
}

// Keepalived holds the API VIP on the bootstrap machine.
func (h Host) Keepalived() asset.Unit { return h.unit("onprem-keepalived.service", true) }

// Speaker announces the API VIP from the bootstrap machine to its routers.
func (h Host) Speaker() asset.Unit { return h.unit("onprem-speaker.service", true) }

// CoreDNS answers for the cluster's names on the bootstrap machine.
func (h Host) CoreDNS() asset.Unit { return h.unit("onprem-coredns.service", true) }

// Resolv keeps the local host first in its resolv.conf if NetworkManager changes its file without
// running its hooks, and without NetworkManager.
func (h Host) Resolv() []asset.Unit {
	return []asset.Unit{h.unit("onprem-resolv.path", true),
		h.unit("onprem-resolv-changed.service", false), h.unit("onprem-resolv.service", true)}
}

// Provisioning provisions hosts from the bootstrap machine: one unit for each part, and that of the
// phase machine, which orders when a part is on.
func (h Host) Provisioning() []asset.Unit {
	return []asset.Unit{h.unit("onprem-provisioning-interface.service", true),
		h.unit("onprem-httpd.service", true), h.unit("onprem-ironic.service", true),
		h.unit("onprem-dnsmasq.service", true), h.unit("onprem-provision.service", true)}
}

// Podman is podman's socket, and the proxy for the images that podman pulls.
func (h Host) Podman() []asset.Unit {
	return []asset.Unit{
		{Name: "podman.socket", Enabled: true, By: "units"},
		h.dropIn("podman.service", "10-onprem-proxy.conf", "podman-proxy.conf"),
	}
}

// NodeIP chooses the node's addresses once in a boot, before kubelet. It is the same on all
// platforms.
func (h Host) NodeIP() asset.Unit {
	return h.unit("nodeip-configuration.service", true, rename("Before", kubelet, h.Kubelet))
}

// Describe makes the description of the cluster out of the Machine Config Operator's, where that
// has passwords: at each boot before the node's addresses are chosen, and when it changes.
func (h Host) Describe() []asset.Unit {
	return []asset.Unit{h.unit("onprem-describe.path", true),
		h.unit("onprem-describe.service", true)}
}

// WaitForNodeIP delays kubelet until the node's addresses can be used, if the node's network was
// configured after they were chosen.
func (h Host) WaitForNodeIP() asset.Unit {
	return h.unit("wait-for-node-ip.service", true, rename("Before", kubelet, h.Kubelet))
}

// WaitForBrEx delays OpenShift's check of the host name until the OVN bridge is up. It does nothing
// without that bridge.
func (h Host) WaitForBrEx() asset.Unit { return h.unit("wait-for-br-ex-up.service", true) }

// VSphereUPI disables the operator's second choice of a node's addresses, which would run beside
// ours. The operator's templates for vSphere add it, and enable it if there are no VIPs. It is not
// masked, because kubelet may require it.
func (h Host) VSphereUPI() asset.Unit {
	const unit = "nodeip-configuration-vsphere-upi.service"
	return h.dropIn(unit, "10-onprem-infra.conf", "vsphere-upi.conf")
}

// ResolvPrepender keeps a node first in its own resolv.conf. The drop-in gate delays kubelet until
// that is done once in a boot. The names are those that operators know.
func (h Host) ResolvPrepender(gate string) []asset.Unit {
	return []asset.Unit{h.unit("on-prem-resolv-prepender.path", true),
		h.unit("on-prem-resolv-changed.service", true),
		h.unit("on-prem-resolv-prepender.service", false), h.dropIn(h.Kubelet, gate, gate)}
}

// VIPLeave releases the VIPs before the node's kubelet, containers and network are stopped. The
// scopes of containers have the name of their engine as a prefix.
func (h Host) VIPLeave() []asset.Unit {
	const dropIn, file = "10-onprem-vip-leave.conf", "scope-leaves.conf"
	return []asset.Unit{h.unit("onprem-vip-leave.service", true, after(h.Kubelet)),
		h.dropIn("cri-containerd-.scope", dropIn, file), h.dropIn("crio-.scope", dropIn, file)}
}

// text is an embedded file. Every name is a constant of this program.
func text(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return text
}

// unit is the unit in the file of that name, with changed options.
func (h Host) unit(name string, enabled bool, changes ...change) asset.Unit {
	contents := edit(name, append([]change{h.fit}, changes...))
	return asset.Unit{Name: name, Enabled: enabled, By: "units", Contents: contents}
}

// dropIn adds a file to a unit that is not ours.
func (h Host) dropIn(unit, name, file string) asset.Unit {
	d := asset.DropIn{Name: name, Contents: edit(file, []change{h.fit})}
	return asset.Unit{Name: unit, By: "units", DropIns: []asset.DropIn{d}}
}
