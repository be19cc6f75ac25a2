package routed_test

import (
	"context"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect/spread"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestRouted_Spread holds where connections are made to find out which nodes answer: to the API's VIP
// alone, by a host of a live cluster that does not have it, and where routers spread connections.
func TestRouted_Spread(t *testing.T) {
	asked := func(nodes int, live bool, change func(mode *string, own *[]string)) (all []spread.Question, f *facts.Routed, unseen []string) {
		t.Helper()
		i, _ := node(t, live, nil)
		own := []string{"192.0.2.11/24"}
		if change != nil {
			change(&i.Plan.BGP.Mode, &own)
		}
		i.Scope.Host.Links, i.Nodes = fakehost.Links(own...), nodes
		i.Spread = func(_ context.Context, q spread.Question) facts.Spread {
			all = append(all, q)
			return facts.Spread{VIP: q.VIP, Asked: 8, Failed: 8, Why: "refused"}
		}
		f = i.Routed(t.Context())
		return all, f, i.Unseen.List()
	}
	vip := netip.MustParseAddr("198.51.100.5")
	all, f, unseen := asked(3, true, nil)
	if want := (spread.Question{VIP: vip, Port: 10250, Most: 96, Enough: 3}); len(all) != 1 || !reflect.DeepEqual(all[0], want) {
		t.Errorf("%+v", all)
	}
	if len(f.Spreads) != 1 || f.Spreads[0].Failed != 8 || !slices.ContainsFunc(unseen, func(text string) bool {
		return strings.Contains(text, "which nodes answer at the VIP 198.51.100.5") && strings.Contains(text, "refused")
	}) {
		t.Errorf("%+v, unseen %q", f.Spreads, unseen)
	}
	if all, _, _ := asked(7, true, nil); len(all) != 1 || all[0].Most != 128 {
		t.Errorf("seven nodes: %+v", all)
	}
	for name, tt := range map[string]struct {
		nodes  int
		live   bool
		change func(*string, *[]string)
	}{
		"one node": {1, true, nil}, "a plain host": {3, false, nil},
		"one node in front":    {3, true, func(mode *string, _ *[]string) { *mode = "preferred" }},
		"a host with that VIP": {3, true, func(_ *string, own *[]string) { *own = append(*own, "198.51.100.5/32") }},
	} {
		if all, f, _ := asked(tt.nodes, tt.live, tt.change); len(all)+len(f.Spreads) > 0 {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// TestRouted_Unsure holds that it is not known which nodes routers use where as many connections failed as one
// node may have had.
func TestRouted_Unsure(t *testing.T) {
	for name, tt := range map[string]struct {
		asked, failed, hosts int
		want                 string
	}{
		"a third":                            {96, 32, 2, "32 of 96 connections to kubelet's port 10250 failed: refused"},
		"a sixth":                            {96, 16, 2, "16 of 96"},
		"fewer":                              {96, 15, 2, ""},
		"none":                               {96, 0, 2, ""},
		"some, until all nodes answered":     {12, 6, 3, ""},
		"some, and one node was to be known": {12, 6, 1, "6 of 12"},
	} {
		i, _ := node(t, true, nil)
		i.Scope.Host.Links, i.Nodes = fakehost.Links("192.0.2.11/24"), 3
		i.Spread = func(_ context.Context, q spread.Question) facts.Spread {
			s := facts.Spread{VIP: q.VIP, Asked: tt.asked, Failed: tt.failed, Hosts: make([]facts.Answerer, tt.hosts)}
			if tt.failed > 0 {
				s.Why = "refused"
			}
			return s
		}
		i.Routed(t.Context())
		text := strings.Join(i.Unseen.List(), "\n")
		if tt.want == "" && strings.Contains(text, "which nodes answer") || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, want %q", name, text, tt.want)
		}
	}
}
