package kube

import (
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// node, list, event and status are the parts of the API's JSON that matter here.
type node struct {
	Metadata struct {
		Name            string
		ResourceVersion string
		Labels          map[string]string
		Annotations     map[string]string
	}
	Status struct {
		Addresses []struct{ Type, Address string }
	}
}

type list struct {
	Kind     string
	Metadata struct{ ResourceVersion string }
	Items    []node
}

type event struct {
	Type   string
	Object json.RawMessage
}

type status struct {
	Code    int
	Message string
}

// controlPlane knows both generations of the label, whatever its value.
func (n node) controlPlane() bool {
	_, now := n.Metadata.Labels["node-role.kubernetes.io/control-plane"]
	_, old := n.Metadata.Labels["node-role.kubernetes.io/master"]
	return now || old
}

// address takes what can be read and leaves out the rest: a Node is written by several programs, and one bad field must not hide it.
func (n node) address() addr.Node {
	out := addr.Node{Name: n.Metadata.Name}
	for _, a := range n.Status.Addresses {
		if ip, err := netip.ParseAddr(a.Address); err == nil && a.Type == "InternalIP" {
			out.InternalIPs = append(out.InternalIPs, ip.Unmap())
		}
	}
	out.Annotated = annotated(n.Metadata.Annotations["k8s.ovn.org/host-cidrs"])
	if len(out.Annotated) == 0 {
		out.Annotated = annotated(n.Metadata.Annotations["k8s.ovn.org/host-addresses"])
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
			out = append(out, prefix.Addr().Unmap())
		} else if ip, err := netip.ParseAddr(s); err == nil {
			out = append(out, ip.Unmap())
		}
	}
	return out
}

func equal(a, b addr.Node) bool {
	return a.Name == b.Name && slices.Equal(a.InternalIPs, b.InternalIPs) && slices.Equal(a.Annotated, b.Annotated)
}
