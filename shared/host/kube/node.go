package kube

import (
	"encoding/json"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// The annotations of OVN-Kubernetes with a host's addresses.
const (
	cidrs = "k8s.ovn.org/host-cidrs"
	hosts = "k8s.ovn.org/host-addresses" // its older form
)

// machineState is the annotation in which the Machine Config Operator reports whether it is
// changing a Node.
const machineState = "machineconfiguration.openshift.io/state"

// The labels that mark what a Node is.
const (
	labelMaster       = "node-role.kubernetes.io/master" // today's nodes have both
	labelControlPlane = "node-role.kubernetes.io/control-plane"
	labelArbiter      = "node-role.kubernetes.io/arbiter"
	labelRemote       = "node.openshift.io/remote-worker"
	labelRemoteOwn    = "onprem-infra.io/remote-worker" // outside OpenShift
)

// Node is what the cluster phase knows of a Node.
type Node struct {
	addr.Candidate
	Ready        bool      // its kubelet works, according to the control plane
	Since        time.Time // of the last change of Ready; zero if unknown
	ControlPlane bool
	Arbiter      bool // holds no VIP and balances nothing
	// Remote is a worker on another network than the VIPs, or one that an administrator excludes;
	// the latter is Apart too.
	Remote, Apart bool

	Created time.Time // by the API's clock
	Rack    string    // its label notice.RackLabel, verbatim; empty for none
	State   string    // its annotation machineState; empty for none
	Kubelet string    // its version
	Published
}

// Published is what the node itself has written on its Node, in annotations of package notice;
// empty for none.
type Published struct {
	Rank, Way  string // verbatim
	List       string // of a control plane node: PublishedKey, verbatim
	Gone       bool   // of a control plane node: the bootstrap machine has left for good
	ClientsKey string
}

// Equal reports whether nothing differs on which a decision depends.
func (n Node) Equal(o Node) bool {
	return n.Candidate.Equal(o.Candidate) && n.Ready == o.Ready &&
		n.ControlPlane == o.ControlPlane && n.Arbiter == o.Arbiter && n.Remote == o.Remote &&
		n.Apart == o.Apart && n.Created.Equal(o.Created) && n.Rack == o.Rack &&
		n.State == o.State && n.Kubelet == o.Kubelet && n.Published == o.Published
}

func labelled(n *corev1.Node, labels ...string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { _, ok := n.Labels[l]; return ok })
}

// readNode reads a Node; one of labels marks the control plane, whatever its value.
func readNode(n *corev1.Node, labels []string) Node {
	node := Node{
		Candidate:    address(n),
		ControlPlane: labelled(n, labels...),
		Arbiter:      labelled(n, labelArbiter),
		Remote:       labelled(n, labelRemote, labelRemoteOwn, notice.ApartLabel),
		Apart:        labelled(n, notice.ApartLabel),
		Created:      n.CreationTimestamp.Time,
		Rack:         n.Labels[notice.RackLabel],
		State:        n.Annotations[machineState],
		Kubelet:      n.Status.NodeInfo.KubeletVersion,
		Published: Published{
			Rank: n.Annotations[notice.Rank], Way: n.Annotations[notice.Way],
			ClientsKey: notice.ReadClientsKey(n.Annotations[notice.ClientsKey]),
		},
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			node.Ready, node.Since = c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
		}
	}
	if node.ControlPlane {
		node.List = n.Annotations[notice.PublishedKey]
		node.Gone = n.Annotations[notice.BootstrapGone] == notice.Gone
	}
	return node
}

// slimNode drops what readNode ignores: the images and the fields' managers are most of a Node.
func slimNode(n *corev1.Node) {
	annotations := map[string]string{}
	for _, key := range []string{
		cidrs, hosts, notice.Rank, notice.Way, notice.PublishedKey, notice.BootstrapGone,
		notice.ClientsKey, machineState,
	} {
		if text, ok := n.Annotations[key]; ok {
			annotations[key] = text
		}
	}
	n.ObjectMeta = metav1.ObjectMeta{
		Name: n.Name, ResourceVersion: n.ResourceVersion, CreationTimestamp: n.CreationTimestamp,
		Labels: n.Labels, Annotations: annotations,
	}
	var ready []corev1.NodeCondition
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			ready = append(ready, corev1.NodeCondition{
				Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime,
			})
		}
	}
	n.Spec, n.Status = corev1.NodeSpec{}, corev1.NodeStatus{
		Addresses: n.Status.Addresses, Conditions: ready,
		NodeInfo: corev1.NodeSystemInfo{KubeletVersion: n.Status.NodeInfo.KubeletVersion},
	}
}

// mostInternal bounds what is read of a Node's InternalIPs, of each family, as its own kubelet can
// write them. A cloud provider lists those of all cards.
const mostInternal = 16

// address takes what is valid and leaves out the rest: several programs write a Node, and one
// invalid field must not hide it.
func address(n *corev1.Node) addr.Candidate {
	out, families := addr.Candidate{Name: n.Name}, map[bool]int{}
	for _, a := range n.Status.Addresses {
		ip, err := netip.ParseAddr(a.Address)
		if err != nil || a.Type != corev1.NodeInternalIP || families[ip.Is4()] == mostInternal {
			continue
		}
		families[ip.Is4()]++
		out.InternalIPs = append(out.InternalIPs, ip)
	}
	out.Annotated = annotated(n.Annotations[cidrs])
	if len(out.Annotated) == 0 {
		out.Annotated = annotated(n.Annotations[hosts])
	}
	return out
}

// mostAnnotated bounds what is read of an annotation that the node's own kubelet can write. It is
// far above what a host has.
const mostAnnotated = 256

// annotated reads a JSON list of addresses with or without a prefix length, as OVN-Kubernetes
// writes it.
func annotated(text string) []netip.Addr {
	var entries []any
	if json.Unmarshal([]byte(text), &entries) != nil {
		return nil
	}
	var out []netip.Addr
	for _, entry := range entries[:min(len(entries), mostAnnotated)] {
		s, _ := entry.(string)
		if prefix, err := netip.ParsePrefix(s); err == nil {
			out = append(out, prefix.Addr())
		} else if ip, err := netip.ParseAddr(s); err == nil {
			out = append(out, ip)
		}
	}
	return out
}
