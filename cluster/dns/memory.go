package dns

import (
	"encoding/json"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// remembered is a node as MemoryPath keeps it.
type remembered struct {
	Name      string       `json:"name"`
	Addresses []netip.Addr `json:"addresses"`
}

// encode writes nodes for MemoryPath. Equal nodes give equal bytes.
func encode(nodes []addr.Candidate) []byte {
	all := make([]remembered, 0, len(nodes))
	for _, n := range nodes {
		all = append(all, remembered{n.Name, n.InternalIPs})
	}
	text, _ := json.Marshal(all) // strings and addresses always encode
	return append(text, '\n')
}

// decode reads what encode wrote. It returns nothing for a broken text, as the API will report the
// nodes again.
func decode(text []byte) []addr.Candidate {
	var all []remembered
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	var nodes []addr.Candidate
	for _, r := range all {
		n := addr.Candidate{Name: r.Name}
		for _, a := range r.Addresses {
			if a.IsValid() { // an empty string decodes as an invalid one
				n.InternalIPs = append(n.InternalIPs, a)
			}
		}
		nodes = append(nodes, n)
	}
	return nodes
}
