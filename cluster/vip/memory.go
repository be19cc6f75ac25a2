package vip

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Memory is what a later start must know.
type Memory struct {
	Open          bool               `json:"open"`          // the eligibility gate
	BootstrapGone bool               `json:"bootstrapGone"` // the bootstrap machine has released the VIPs for good
	Nodes         []member.Node      `json:"nodes"`         // that the API named last
	Candidates    []notice.Candidate `json:"candidates"`
	Rank          string             `json:"rank,omitempty"` // the last one of this node
	// Started are the instances that were once started on this node; null in the files of former
	// releases.
	Started []vrrp.InstanceName `json:"started"`
}

func (m Memory) equal(o Memory) bool {
	return m.Rank == o.Rank && slices.Equal(m.Started, o.Started) && m.Open == o.Open &&
		m.BootstrapGone == o.BootstrapGone && slices.EqualFunc(m.Nodes, o.Nodes, member.Node.Same) &&
		slices.EqualFunc(m.Candidates, o.Candidates, notice.Candidate.Equal)
}

// startedBefore are the instances that a run of a former release has started: all of the cluster, if
// it came to know the nodes.
func startedBefore(p plan.Plan, kept Memory) []vrrp.InstanceName {
	if len(kept.Nodes) == 0 {
		return []vrrp.InstanceName{}
	}
	return slices.Sorted(slices.Values(election.Names(p, vrrp.API, vrrp.Ingress, vrrp.DNS)))
}

// EncodeMemory writes a memory for MemoryPath. Equal memories give equal bytes.
func EncodeMemory(m Memory) []byte {
	text, _ := json.MarshalIndent(m, "", "  ") // names, addresses and two bits always encode
	return append(text, '\n')
}

// DecodeMemory reads what EncodeMemory wrote, all of it or nothing.
func DecodeMemory(text []byte) (Memory, error) {
	var m Memory
	if err := json.Unmarshal(text, &m); err != nil {
		return Memory{}, fmt.Errorf("read the memory of an earlier run: %w", err)
	}
	return m, nil
}
