package proof

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestProveProvisioning holds which node gets the provisioning address under either policy, and no
// statement for clusters whose nodes share none.
func TestProveProvisioning(t *testing.T) {
	for name, policy := range map[string]vrrp.Policy{"compat": vrrp.Compat(), "ranked": vrrp.Ranked()} {
		without, err := Prove(policy)
		if err != nil {
			t.Fatal(err)
		}
		with, err := Prove(policy.WithProvisioning())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if without.ProvisioningMax != 0 || strings.Contains(strings.Join(without.Statements, "\n"), "Ironic") {
			t.Errorf("%s without one: %d, %q", name, without.ProvisioningMax, without.Statements)
		}
		shown := strings.Join(with.Statements[len(without.Statements):], "\n")
		for _, want := range map[string][]string{
			"compat": {"the highest priority for the provisioning address is 40",
				"a node on which Ironic answers beats one on which it does not: 40 against 0 (out of the election)"},
			"ranked": {"the highest priority for the provisioning address is 31 + 24 (rank 0) + 30 (holder) = 85",
				"a node on which Ironic answers beats one on which it does not: 31 against 0 (out of the election)",
				"the holder beats a node of equal health and any rank: 31 + 30 (holder) = 61 against 31 + 24 (rank 0) = 55"},
		}[name] {
			if !strings.Contains(shown, want) {
				t.Errorf("%s proves\n%s\nwant %q", name, shown, want)
			}
		}
	}
}

// TestProveRejectsProvisioning holds what is no election for a provisioning address.
func TestProveRejectsProvisioning(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*vrrp.Candidates)
		want   string
	}{
		{"a node without Ironic stays in", func(c *vrrp.Candidates) { c.Weights[0].Fault, c.Weights[0].Adds = false, 20 },
			"a node on which Ironic answers must beat one on which it does not"},
		{"ranks above the holder's bonus", func(c *vrrp.Candidates) { c.Ranks[0] = 31 }, "the holder must beat a node of equal health"},
		{"a base out of range", func(c *vrrp.Candidates) { c.Base = 250 }, "provisioning priority 250"},
		{"a check that nothing drives", func(c *vrrp.Candidates) { c.Weights[0].Check = "dhcp" }, `provisioning check "dhcp": nothing drives it`},
	} {
		p := vrrp.Ranked().WithProvisioning()
		tt.change(&p.Provisioning)
		if _, err := Prove(p); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}
