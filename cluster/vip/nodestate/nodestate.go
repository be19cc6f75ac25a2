// Package nodestate is what a later start of a node's monitor must know of the cluster, as it is
// kept in a file.
package nodestate

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Path is the file.
const Path = "/var/lib/onprem-infra/vip.json"

// Memory is what is kept.
type Memory struct {
	Open bool `json:"open"` // the eligibility gate
	// the bootstrap machine has released the VIPs for good
	BootstrapGone bool               `json:"bootstrapGone"`
	Nodes         []member.Node      `json:"nodes"` // that the API named last
	Candidates    []notice.Candidate `json:"candidates"`
	Rank          string             `json:"rank,omitempty"` // the last one of this node
	Rack          string             `json:"rack,omitempty"` // by the label of this node's Node
	// Apart: by a label of its Node, VIPs are kept away from this node.
	Apart bool `json:"apart,omitempty"`
	// Started are the instances that were once started on this node; null in the files of former
	// releases.
	Started []vrrp.InstanceName `json:"started"`
}

// Equal compares two memories.
func (m Memory) Equal(o Memory) bool {
	return m.Rank == o.Rank && m.Rack == o.Rack && m.Apart == o.Apart &&
		slices.Equal(m.Started, o.Started) && m.Open == o.Open &&
		m.BootstrapGone == o.BootstrapGone &&
		slices.EqualFunc(m.Nodes, o.Nodes, member.Node.Same) &&
		slices.EqualFunc(m.Candidates, o.Candidates, notice.Candidate.Equal)
}

// Resume fills in what a former release did not keep: with nodes it had started all instances.
func (m *Memory) Resume(all []vrrp.InstanceName) {
	if m.Started != nil {
		return
	}
	m.Started = []vrrp.InstanceName{}
	if len(m.Nodes) > 0 {
		m.Started = slices.Sorted(slices.Values(all))
	}
}

// Encode writes a memory. Equal memories give equal bytes.
func Encode(m Memory) []byte {
	text, _ := json.MarshalIndent(m, "", "  ") // names, addresses, flags and times always encode
	return append(text, '\n')
}

// Decode reads what Encode wrote, all of it or nothing.
func Decode(text []byte) (Memory, error) {
	var m Memory
	if err := json.Unmarshal(text, &m); err != nil {
		return Memory{}, fmt.Errorf("read the memory of an earlier run: %w", err)
	}
	return m, nil
}
