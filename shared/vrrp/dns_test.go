package vrrp

import "testing"

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
