package proof

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestProveDNS holds which node gets the DNS VIP under either policy, and no statement for clusters
// that have none.
func TestProveDNS(t *testing.T) {
	for name, policy := range map[string]vrrp.Policy{"compat": vrrp.Compat(),
		"ranked": vrrp.Ranked()} {
		without, err := Prove(policy)
		if err != nil {
			t.Fatal(err)
		}
		with, err := Prove(policy.WithDNS())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if without.DNSMax != 0 || strings.Contains(strings.Join(without.Statements, "\n"), "DNS") {
			t.Errorf("%s without a DNS VIP: %d, %q", name, without.DNSMax, without.Statements)
		}
		shown := strings.Join(with.Statements[len(without.Statements):], "\n")
		for _, want := range map[string][]string{
			"compat": {"40 + 50 (dns) = 90 is the highest of all 2 outcomes of its checks, " +
				"bootstrap 140, margin 50", "a node whose name server answers beats one whose " +
				"does not: 40 + 50 (dns) = 90 against 40"},
			"ranked": {"31 + 24 (rank 0) + 30 (holder) + 120 (dns) = 205 is the highest of all " +
				"20 outcomes", "a node whose name server answers beats one whose does not: 31 + " +
				"120 (dns) = 151 against 31 + 24 (rank 0) + 30 (holder) = 85",
				"the holder beats a node of equal health and any rank: "},
		}[name] {
			if !strings.Contains(shown, want) {
				t.Errorf("%s proves\n%s\nwant %q", name, shown, want)
			}
		}
	}
}

// TestProveRejectsDNS holds what is no election for a DNS VIP.
func TestProveRejectsDNS(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*vrrp.Policy)
		want   string
	}{
		{"a bootstrap machine that a node reaches", func(p *vrrp.Policy) { p.BootstrapDNS = 205 },
			"priorities for the DNS VIP reach the bootstrap's"},
		{"one out of range", func(p *vrrp.Policy) { p.BootstrapDNS = 255 },
			"bootstrap DNS priority 255 is outside 1 to 254"},
		{"a name server that counts less than holding",
			func(p *vrrp.Policy) { p.DNS.Weights[0].Adds = 54 },
			"a node whose name server answers must beat one whose does not"},
		{"a check of something else", func(p *vrrp.Policy) { p.DNS.Weights[0].Check = "resolver" },
			`DNS check "resolver": nothing drives it`},
		{"ranks above the holder's bonus", func(p *vrrp.Policy) { p.DNS.Ranks[0] = 31 },
			"the holder must beat a node of equal health"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := vrrp.Ranked().WithDNS()
			tt.change(&p)
			if _, err := Prove(p); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if _, err := Prove(vrrp.Ranked().WithDNS()); err != nil {
				t.Errorf("another policy has changed too: %v", err)
			}
		})
	}
}
