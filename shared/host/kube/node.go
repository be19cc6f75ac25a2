package kube

import (
	"encoding/json"
	"net/netip"

	corev1 "k8s.io/api/core/v1"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// controlPlane knows both generations of the label, whatever its value.
func controlPlane(n *corev1.Node) bool {
	_, now := n.Labels["node-role.kubernetes.io/control-plane"]
	_, old := n.Labels["node-role.kubernetes.io/master"]
	return now || old
}

// address takes what can be read and leaves out the rest: a Node is written by several programs, and one bad field must not hide it.
func address(n *corev1.Node) addr.Node {
	out := addr.Node{Name: n.Name}
	for _, a := range n.Status.Addresses {
		if ip, err := netip.ParseAddr(a.Address); err == nil && a.Type == corev1.NodeInternalIP {
			out.InternalIPs = append(out.InternalIPs, ip)
		}
	}
	out.Annotated = annotated(n.Annotations["k8s.ovn.org/host-cidrs"])
	if len(out.Annotated) == 0 {
		out.Annotated = annotated(n.Annotations["k8s.ovn.org/host-addresses"])
	}
	return out
}

// annotated reads a JSON list of addresses with or without a prefix length, as OVN-Kubernetes writes it.
func annotated(text string) []netip.Addr {
	var entries []any
	if json.Unmarshal([]byte(text), &entries) != nil {
		return nil
	}
	var out []netip.Addr
	for _, entry := range entries {
		s, _ := entry.(string)
		if prefix, err := netip.ParsePrefix(s); err == nil {
			out = append(out, prefix.Addr())
		} else if ip, err := netip.ParseAddr(s); err == nil {
			out = append(out, ip)
		}
	}
	return out
}
