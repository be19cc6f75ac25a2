package plan

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

func TestNodeRuns(t *testing.T) {
	some := addresses("192.0.2.5")
	tests := []struct {
		name     string
		vips     []netip.Addr
		balancer spec.LoadBalancer
		role     role.Role
		want     Rooms
	}{
		{"master", some, spec.Managed, role.Master, Rooms{VIP: true, LB: true, DNS: true}},
		{"worker", some, spec.Managed, role.Worker, Rooms{VIP: true, DNS: true}},
		{"arbiter", some, spec.Managed, role.Arbiter, Rooms{DNS: true}},
		{"bootstrap", some, spec.Managed, role.Bootstrap, Rooms{}},
		{"user's balancer", some, spec.UserManaged, role.Master, Rooms{VIP: true, LB: true, DNS: true, Disabled: true}},
		{"no VIP", nil, spec.Managed, role.Master, Rooms{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Plan{VIPs: VIPs{API: tt.vips}, Services: Services{LoadBalancer: tt.balancer}}
			if got := p.NodeRuns(tt.role); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestElects holds K-20: a node is the only candidate only where a control plane may have one node.
func TestElects(t *testing.T) {
	for topology, from := range map[spec.Topology]int{
		spec.HighlyAvailable: 2, spec.HighlyAvailableArbiter: 1, spec.DualReplica: 1, spec.SingleReplica: 1, "": 2,
	} {
		for known := range 5 {
			if got := (Plan{Shape: Shape{Topology: topology}}).Elects(known); got != (known >= from) {
				t.Errorf("%q, %d nodes: %t, want it from %d on", topology, known, got, from)
			}
		}
	}
}

func TestRoles(t *testing.T) {
	for topology, want := range map[spec.Topology][]role.Role{
		spec.HighlyAvailable:        {role.Bootstrap, role.Master, role.Worker},
		spec.HighlyAvailableArbiter: {role.Bootstrap, role.Master, role.Worker, role.Arbiter},
		spec.DualReplica:            {role.Bootstrap, role.Master, role.Worker},
		spec.SingleReplica:          {role.Bootstrap, role.Master, role.Worker},
	} {
		if got := (Plan{Shape: Shape{Topology: topology}}).Roles(); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", topology, got, want)
		}
	}
}

// TestFlavour_Nodes holds that what a description has of nodes is in the flavour too: whatever looks at a
// cluster by that looks where the cluster's own programs write.
func TestFlavour_Nodes(t *testing.T) {
	p := compiled(t, `{apiVersion: onprem-infra.io/v1alpha1, kind: Cluster, metadata: {name: ostest}, spec: {baseDomain: example.com, platform: none,
  machineNetworks: [192.0.2.0/24], apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6], namespace: elsewhere, nodeLabels: {controlPlane: example.com/control}}}`)
	if f := p.Flavour(); f.Namespace != "elsewhere" || f.ControlPlaneLabel != "example.com/control" {
		t.Errorf("%+v", f.Nodes)
	}
}
