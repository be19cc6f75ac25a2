//go:build remote

package main

import (
	"log/slog"
	"net"
	"net/netip"
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

// TestFounderAnswered holds who has a VIP: a host that takes a connection, and one that refuses it.
// Whoever has no address there has said nothing.
func TestFounderAnswered(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	loopback, taken := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddrPort(listener.Addr().String()).Port()
	if !(founder{port: taken}).Answered(t.Context(), loopback) {
		t.Error("a host that takes connections has not the VIP")
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if !(founder{port: taken}).Answered(t.Context(), loopback) {
		t.Error("a host that refuses connections has not the VIP")
	}
	if (founder{port: taken}).Answered(t.Context(), netip.MustParseAddr("ff02::1")) {
		t.Error("somebody has an address that no host can have")
	}
}

// TestMayFound holds which nodes may be the first one of a cluster.
func TestMayFound(t *testing.T) {
	known := nodestate.Memory{Nodes: []member.Node{{Candidate: addr.Candidate{Name: "n1"}, ControlPlane: true}}}
	m := &monitor{}
	m.log, m.wake = slog.New(slog.DiscardHandler), loop.NewWake()
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
		if got := newFounding(m, described, tt.role, tt.memory, access) != nil; got != tt.want {
			t.Errorf("%s: may be the first one %v, want %v", tt.name, got, tt.want)
		}
	}
}
