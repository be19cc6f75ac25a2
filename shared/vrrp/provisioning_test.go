package vrrp

import "testing"

// TestProvisioningID holds that the address has an ID of its own, whatever the cluster has beside.
func TestProvisioningID(t *testing.T) {
	api, ingress, err := IDs("cnf10")
	if err != nil {
		t.Fatal(err)
	}
	alone := ProvisioningID("cnf10")
	if alone == 0 || alone == DNSID("cnf10") || alone == ProvisioningID("cnf11") {
		t.Errorf("ID %d does not follow from the name and the kind", alone)
	}
	if got := ProvisioningID("cnf10", api, ingress, alone, alone+1); got != alone+2 {
		t.Errorf("beside %d and the next one: %d", alone, got)
	}
}

// TestWithProvisioning holds that a node is a candidate by Ironic alone, with the ranks and the bonus
// of the control plane, and that the policy which it was made from stays as it was.
func TestWithProvisioning(t *testing.T) {
	for _, policy := range []Policy{Compat(), Ranked()} {
		c := policy.WithProvisioning().Provisioning
		works := Signals{LB: true, API: true, MCS: true, Router: true, DNS: true}
		if !c.Excludes(works.Passes) || c.Excludes(Signals{Ironic: true}.Passes) {
			t.Errorf("%+v: a node without Ironic is a candidate, or one with it alone is none", c)
		}
		if c.Base != policy.ControlPlane.Base || c.Holder != policy.ControlPlane.Holder || len(c.Ranks) != len(policy.ControlPlane.Ranks) {
			t.Errorf("%+v beside the control plane's %+v", c, policy.ControlPlane)
		}
		if len(c.Ranks) > 0 {
			c.Ranks[0]++
		}
		if len(policy.ControlPlane.Ranks) > 0 && policy.ControlPlane.Ranks[0] != Ranked().ControlPlane.Ranks[0] {
			t.Error("the control plane's ranks changed too")
		}
	}
}
