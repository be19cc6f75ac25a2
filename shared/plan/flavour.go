package plan

import (
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Flavour is all in which the hosts of OpenShift and those of any other Kubernetes differ. It is
// decided here and nowhere else: who needs to know asks for the difference, never for the
// distribution.
type Flavour struct {
	// What the cluster says where the user does not.
	Namespace, Kubeconfig, KubeletUnit, ControlPlaneLabel string

	Short                string            // the cluster's platform in names of files and labels
	RemoteLabel          string            // of a worker on another network than the VIPs
	PodAnnotations       map[string]string // of every pod of ours
	NamespaceAnnotations map[string]string
	NamespaceLabels      map[string]string
	KubeletGate          string // the drop-in by which kubelet waits for resolv.conf
	ResolvMarker         string // the file that it waits for
	ResolvedDropIn       string // where systemd-resolved is in charge

	MachineConfig bool // each control plane node has a machine config server, which the balancer serves as well
	Routers       bool // the ingress VIP follows OpenShift's routers; elsewhere whatever answers HTTP at the ingress port of a node
	Around        bool // OpenShift's own units stand around ours: they configure a bridge and the network, empty storage, update the system
	Founds        bool // the first control plane node has no bootstrap machine before it
}

// Flavour is the cluster's.
func (p Plan) Flavour() Flavour {
	return flavourOf(or(p.Distribution, distributionOf(p.Platform)), p.Platform)
}

// distributionOf is that of a platform's clusters where the user says nothing else: OpenShift gives
// virtual IPs to none but its five platforms.
func distributionOf(platform spec.Platform) spec.Distribution {
	if platform == spec.None {
		return spec.Kubernetes
	}
	return spec.OpenShift
}

func distributionFor(c spec.Cluster) spec.Distribution {
	return or(c.Distribution, distributionOf(or(c.Platform, spec.None)))
}

func flavourFor(c spec.Cluster) Flavour {
	return flavourOf(distributionFor(c), or(c.Platform, spec.None))
}

func flavourOf(d spec.Distribution, platform spec.Platform) Flavour {
	if d == spec.Kubernetes {
		return anyKubernetes()
	}
	return openShift(platform)
}

// anyKubernetes has the names and paths of kubeadm.
func anyKubernetes() Flavour {
	const short = "onprem"
	return Flavour{
		Namespace: "onprem-infra", Kubeconfig: "/etc/kubernetes/kubelet.conf", KubeletUnit: "kubelet.service",
		ControlPlaneLabel: "node-role.kubernetes.io/control-plane", RemoteLabel: "onprem-infra.io/remote-worker", Short: short,
		KubeletGate: "10-onprem-wait-resolv.conf", ResolvMarker: "/run/onprem-resolv-done", ResolvedDropIn: "/etc/systemd/resolved.conf.d/60-onprem.conf",
		Founds: true,
	}
}

// openShift has the names and paths that its nodes of today have. Its namespace has their prefix
// where other programs know it.
func openShift(platform spec.Platform) Flavour {
	f := Flavour{
		Namespace: "openshift-" + platform.Short() + "-infra", Kubeconfig: "/var/lib/kubelet/kubeconfig", KubeletUnit: "kubelet.service",
		ControlPlaneLabel: "node-role.kubernetes.io/master", RemoteLabel: "node.openshift.io/remote-worker", Short: platform.Short(),
		PodAnnotations: map[string]string{
			// Its CPUs may be those that are set aside for the platform.
			"target.workload.openshift.io/management": `{"effect": "PreferredDuringScheduling"}`,
			// No constraint of somebody else's that allows as much may be laid on the mirror of the
			// pod.
			"openshift.io/required-scc": "privileged",
		},
		NamespaceAnnotations: map[string]string{
			"workload.openshift.io/allowed": "management",
			// Pods go to every node, whatever selector new projects have by default.
			"openshift.io/node-selector": "",
		},
		// No controller may work out another pod security level from the rights of the namespace's
		// accounts.
		NamespaceLabels: map[string]string{"security.openshift.io/scc.podSecurityLabelSync": "false"},
		KubeletGate:     "10-mco-on-prem-wait-resolv.conf",
		ResolvMarker:    "/run/resolv-prepender-kni-conf-done", ResolvedDropIn: "/etc/systemd/resolved.conf.d/60-kni.conf",
		MachineConfig: true, Routers: true, Around: true,
	}
	if platform == spec.None {
		f.Namespace = platform.Short() + "-infra"
	}
	return f
}

// policy is a timing's without what the cluster does not have: a check that never passes would be
// made for nothing.
func (f Flavour) policy(p vrrp.Policy) vrrp.Policy {
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

// ports are those that the cluster uses, of all that there are.
func (f Flavour) ports(all map[string]uint16) map[string]uint16 {
	if !f.MachineConfig {
		delete(all, port.MachineConfig)
		delete(all, port.MachineConfigLB)
	}
	if !f.Routers {
		delete(all, port.RouterStats)
	}
	return all
}
