package dns

import (
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// remembered is a node as MemoryPath keeps it.
type remembered struct {
	Name      string       `json:"name"`
	Addresses []netip.Addr `json:"addresses"`
	// ControlPlane is nil in a file of a former release, where each node counts as one, as it did.
	ControlPlane *bool `json:"controlPlane"`
}

// encode writes nodes for MemoryPath. Equal nodes give equal bytes.
func encode(nodes []Node) []byte {
	all := make([]remembered, 0, len(nodes))
	for _, n := range nodes {
		all = append(all, remembered{n.Name, n.InternalIPs, &n.ControlPlane})
	}
	text, _ := json.Marshal(all) // strings and addresses always encode
	return append(text, '\n')
}

// decode reads what encode wrote. It returns nothing for a broken text, as the API will report the
// nodes again.
func decode(text []byte) []Node {
	var all []remembered
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	var nodes []Node
	for _, r := range all {
		invalid := func(a netip.Addr) bool { return !a.IsValid() } // decoded from an empty string
		addresses := slices.DeleteFunc(r.Addresses, invalid)
		nodes = append(nodes, Node{
			Candidate:    addr.Candidate{Name: r.Name, InternalIPs: addresses},
			ControlPlane: r.ControlPlane == nil || *r.ControlPlane,
		})
	}
	return nodes
}
