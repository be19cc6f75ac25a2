// Package distribution holds all in which the hosts of OpenShift and those of any other Kubernetes
// differ.
package distribution

import (
	"cmp"

	"github.com/onprem-infra/onprem-infra/shared/endpoint"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Flavour is these differences. Other rooms ask for a difference, never for the distribution.
type Flavour struct {
	spec.Nodes // the defaults of a cluster description

	Short                string            // the cluster's platform in names of files and labels
	RemoteLabel          string            // of a worker on another network than the VIPs
	PodAnnotations       map[string]string // of every pod of ours
	NamespaceAnnotations map[string]string
	NamespaceLabels      map[string]string
	KubeletGate          string // the drop-in by which kubelet waits for resolv.conf
	ResolvMarker         string // the file that it waits for
	ResolvedDropIn       string // where systemd-resolved is in charge

	// each control plane node has a machine config server, which the balancer serves
	MachineConfig bool
	// the ingress VIP follows OpenShift's routers, else HTTP at a node's ingress port
	Routers bool
	// Around means that OpenShift's own units run beside ours: they configure a bridge and the
	// network, empty storage, update the system.
	Around bool
	// Machines means that operators of bare hosts and of Machines run in the cluster.
	Machines bool
	// Ironic is that of the cluster, not the bootstrap machine's; the zero value where none runs.
	Ironic Ironic
	Founds bool // the first control plane node has no bootstrap machine before it
}

// Ironic is a Service for the pod of an Ironic, and which of its ports is which.
type Ironic struct {
	endpoint.Service
	API, VirtualMedia endpoint.Wanted
}

// Of is the distribution of a platform's clusters if the user names none: OpenShift gives virtual
// IPs to its five platforms only.
func Of(platform spec.Platform) spec.Distribution {
	if platform == spec.None {
		return spec.Kubernetes
	}
	return spec.OpenShift
}

// FlavourOf is that of a distribution on a platform; without one, that of the platform's clusters.
func FlavourOf(d spec.Distribution, platform spec.Platform) Flavour {
	if cmp.Or(d, Of(platform)) == spec.Kubernetes {
		return anyKubernetes()
	}
	return openShift(platform)
}

// anyKubernetes has the names and paths of kubeadm.
func anyKubernetes() Flavour {
	return Flavour{
		Nodes: spec.Nodes{
			Namespace: "onprem-infra", Kubeconfig: "/etc/kubernetes/kubelet.conf",
			KubeletUnit:       "kubelet.service",
			ControlPlaneLabel: "node-role.kubernetes.io/control-plane",
		},
		RemoteLabel: "onprem-infra.io/remote-worker", Short: "onprem",
		KubeletGate: "10-onprem-wait-resolv.conf", ResolvMarker: "/run/onprem-resolv-done",
		ResolvedDropIn: "/etc/systemd/resolved.conf.d/60-onprem.conf",
		Founds:         true,
	}
}

// openShift has the names and paths that OpenShift's nodes have today. Its namespace has
// OpenShift's prefix, but for the platform none: there no other program knows it.
func openShift(platform spec.Platform) Flavour {
	f := Flavour{
		Nodes: spec.Nodes{
			Namespace:  "openshift-" + platform.Short() + "-infra",
			Kubeconfig: "/var/lib/kubelet/kubeconfig", KubeletUnit: "kubelet.service",
			ControlPlaneLabel: "node-role.kubernetes.io/master",
		},
		RemoteLabel: "node.openshift.io/remote-worker", Short: platform.Short(),
		PodAnnotations: map[string]string{
			// Its CPUs may be those that are reserved for the platform.
			"target.workload.openshift.io/management": `{"effect": "PreferredDuringScheduling"}`,
			// No other constraint that allows as much may be applied to the pod's mirror.
			"openshift.io/required-scc": "privileged",
		},
		NamespaceAnnotations: map[string]string{
			"workload.openshift.io/allowed": "management",
			// Pods go to every node, whatever selector new projects have by default.
			"openshift.io/node-selector": "",
		},
		// No controller may derive another pod security level from the accounts of the namespace.
		NamespaceLabels: map[string]string{
			"security.openshift.io/scc.podSecurityLabelSync": "false",
		},
		KubeletGate:    "10-mco-on-prem-wait-resolv.conf",
		ResolvMarker:   "/run/resolv-prepender-kni-conf-done",
		ResolvedDropIn: "/etc/systemd/resolved.conf.d/60-kni.conf",
		MachineConfig:  true, Routers: true, Around: true, Machines: true,
		// cluster-baremetal-operator deploys it, and names the ports so.
		Ironic: Ironic{
			Service: endpoint.Service{Namespace: object.MachineNamespace, Name: "metal3-state"},
			API: endpoint.Wanted{Name: "ironic",
				Numbers: numbers(port.IronicBackend, port.Ironic)},
			VirtualMedia: endpoint.Wanted{Name: "vmedia-https",
				Numbers: numbers(port.VirtualMedia)},
		},
	}
	if platform == spec.None {
		f.Namespace = platform.Short() + "-infra"
	}
	return f
}

// numbers are those of ports that no cluster can choose.
func numbers(names ...string) (all []uint16) {
	for _, name := range names {
		p, _ := port.Lookup(name)
		all = append(all, p.Number)
	}
	return all
}

// Hosts is where the cluster has the objects of its hosts.
func (f Flavour) Hosts() object.Place {
	if f.Machines {
		return object.OpenShiftHosts()
	}
	return object.AnyHosts()
}

// Policy is a timing's policy without checks of what the cluster does not have: they would never
// pass.
func (f Flavour) Policy(p vrrp.Policy) vrrp.Policy {
	var absent []vrrp.CheckName
	if !f.MachineConfig {
		absent = append(absent, vrrp.CheckMCS)
	}
	if !f.Routers {
		absent = append(absent, vrrp.CheckDefaultIngress, vrrp.CheckIngressReady)
	}
	p.ControlPlane, p.Ingress = p.ControlPlane.Without(absent...), p.Ingress.Without(absent...)
	return p
}

// Uses reports whether the cluster uses a port.
func (f Flavour) Uses(name string) bool {
	switch name {
	case port.MachineConfig, port.MachineConfigLB:
		return f.MachineConfig
	case port.RouterStats:
		return f.Routers
	}
	return true
}
