package vrrp

import "testing"

func TestCompatAuth(t *testing.T) {
	tests := []struct {
		cluster      string
		api, ingress AuthPass
	}{
		{"a", "a_api_vi", "a_ingres"},
		{"ostest", "ostest_a", "ostest_i"},
		{"abcdefg", "abcdefg_", "abcdefg_"},
		{"mycluster", "mycluste", "mycluste"},
	}
	for _, tt := range tests {
		if api, ingress := CompatAuth(tt.cluster, API), CompatAuth(tt.cluster,
			Ingress); api != tt.api || ingress != tt.ingress {
			t.Errorf("CompatAuth(%q) = %q and %q, want %q and %q", tt.cluster, api, ingress,
				tt.api, tt.ingress)
		}
	}
}
