package vrrp

import (
	"strings"
	"testing"
)

// TestDNSID holds the numbers that clusters had while they had a DNS VIP, and that no two of a
// cluster's routers have one.
func TestDNSID(t *testing.T) {
	for _, tt := range []struct {
		name   string
		others []ID
		want   ID
	}{
		{"cnf10", nil, 158}, {"cnf11", nil, 239},
		{"cnf10", []ID{158, 159}, 160},
		{"cnf10", []ID{158, 157}, 159},
	} {
		if got := DNSID(tt.name, tt.others...); got != tt.want {
			t.Errorf("%s beside %v: %d, want %d", tt.name, tt.others, got, tt.want)
		}
	}
	var taken []ID
	for id := 1; id <= 255; id++ {
		if id != 7 {
			taken = append(taken, ID(id))
		}
	}
	if got := DNSID("cnf10", taken...); got != 7 {
		t.Errorf("where one is free: %d", got)
	}
}

// TestProveDNS holds who gets the DNS VIP under either policy, and that nothing is said of clusters
// that have none.
func TestProveDNS(t *testing.T) {
	for name, policy := range map[string]Policy{"compat": Compat(), "ranked": Ranked()} {
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
		said := strings.Join(with.Statements[len(without.Statements):], "\n")
		for _, want := range map[string][]string{
			"compat": {"40 + 50 (dns) = 90 is the highest of all 2 outcomes of its checks, bootstrap 140, margin 50", "a node whose name server answers beats one whose does not: 40 + 50 (dns) = 90 against 40"},
			"ranked": {"31 + 24 (rank 0) + 30 (holder) + 120 (dns) = 205 is the highest of all 20 outcomes", "a node whose name server answers beats one whose does not: 31 + 120 (dns) = 151 against 31 + 24 (rank 0) + 30 (holder) = 85",
				"the holder beats a node of equal health and any rank: "},
		}[name] {
			if !strings.Contains(said, want) {
				t.Errorf("%s says\n%s\nwant %q", name, said, want)
			}
		}
	}
}

// TestProveRejectsDNS holds what is no election for a DNS VIP.
func TestProveRejectsDNS(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Policy)
		want   string
	}{
		{"a bootstrap machine that a node reaches", func(p *Policy) { p.BootstrapDNS = 205 }, "priorities for the DNS VIP reach the bootstrap's"},
		{"one out of range", func(p *Policy) { p.BootstrapDNS = 255 }, "bootstrap DNS priority 255 is outside 1 to 254"},
		{"a name server that counts less than holding", func(p *Policy) { p.DNS.Weights[0].Adds = 54 }, "a node whose name server answers must beat one whose does not"},
		{"a check of something else", func(p *Policy) { p.DNS.Weights[0].Check = "resolver" }, `DNS check "resolver": nothing drives it`},
		{"ranks above the holder's bonus", func(p *Policy) { p.DNS.Ranks[0] = 31 }, "the holder must beat a node of equal health"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Ranked().WithDNS()
			tt.change(&p)
			if _, err := Prove(p); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if _, err := Prove(Ranked().WithDNS()); err != nil {
				t.Errorf("another policy has changed too: %v", err)
			}
		})
	}
}
