//go:build remote

package main

import (
	"log/slog"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestMayFound holds which nodes may be the first one of a cluster.
func TestMayFound(t *testing.T) {
	known := nodestate.Memory{Nodes: []member.Node{{Candidate: addr.Candidate{Name: "n1"}, ControlPlane: true}}}
	m := &monitor{machine: &machine{log: slog.New(slog.DiscardHandler), wake: loop.NewWake()}}
	for _, tt := range []struct {
		name         string
		distribution spec.Distribution
		role         role.Role
		memory       nodestate.Memory
		want         bool
	}{
		{"the first start of all", spec.Kubernetes, role.Master, nodestate.Memory{}, true},
		{"a worker", spec.Kubernetes, role.Worker, nodestate.Memory{}, false},
		{"nodes are remembered", spec.Kubernetes, role.Master, known, false},
		{"a bootstrap machine is before it", spec.OpenShift, role.Master, nodestate.Memory{}, false},
	} {
		access := kubeconfig.NewAccess("absent", m.log)
		described := plan.Plan{Shape: plan.Shape{Distribution: tt.distribution}}
		m.role = tt.role
		if got := newFounding(m, described, tt.memory, access) != nil; got != tt.want {
			t.Errorf("%s: may be the first one %v, want %v", tt.name, got, tt.want)
		}
	}
}
