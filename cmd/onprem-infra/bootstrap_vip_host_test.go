//go:build remote

package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// The heirs of an earlier run count until the API tells of others, which it may forget again.
func TestHeirs(t *testing.T) {
	node := func(name string) []addr.Candidate { return []addr.Candidate{{Name: name}} }
	var known []addr.Candidate
	ask := heirs(func() ([]addr.Candidate, bool) { return known, true }, node("kept"))
	for _, tt := range []struct {
		known []addr.Candidate
		want  string
	}{
		{nil, "kept"},
		{node("m0"), "m0"},
		{nil, "m0"},
	} {
		if known = tt.known; ask()[0].Name != tt.want {
			t.Errorf("told of %v: %v, want %s", known, ask(), tt.want)
		}
	}
}

func TestAssumedFree(t *testing.T) {
	p := plan.Plan{VIPs: plan.VIPs{API: []netip.Addr{netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")}}}
	for _, tt := range []struct {
		texts []string
		want  int
		fault string
	}{
		{texts: nil, want: 0},
		{texts: []string{"192.0.2.5"}, want: 1},
		{texts: []string{"2001:DB8::5", "192.0.2.5"}, want: 2},
		{texts: []string{"192.0.2.5", "192.0.2.6"}, fault: `--assume-free "192.0.2.6": not an API VIP of this cluster, which has [192.0.2.5 2001:db8::5]`},
		{texts: []string{"api"}, fault: `--assume-free "api": not an API VIP`},
		{texts: []string{""}, fault: `--assume-free "": not an API VIP`},
	} {
		got, err := assumedFree(p.VIPs.API, tt.texts)
		if len(got) != tt.want || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%q: %v, %v, want %d and %q", tt.texts, got, err, tt.want, tt.fault)
		}
	}
}
