package vip

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/health"
)

func TestHeirs(t *testing.T) {
	p := compile(t, dual)
	nodes := []addr.Node{master("m1", "192.0.2.12", "2001:db8::12"), master("m0", "192.0.2.11"), master("m2", "192.0.2.5")}
	want := []netip.Addr{ip("192.0.2.11"), ip("192.0.2.12"), ip("2001:db8::12")}
	if got := Heirs(p, nodes); !slices.Equal(got, want) {
		t.Errorf("Heirs() = %v, want %v: of each family, and never a VIP", got, want)
	}
	if got := Heirs(p, nil); len(got) > 0 {
		t.Errorf("without nodes: %v", got)
	}
}

func TestHeirAmong(t *testing.T) {
	for _, tt := range []struct {
		name string
		seen []health.API
		want Heir
	}{
		{name: "nobody", want: NoHeir},
		{name: "none is ready", seen: []health.API{health.Gone, health.NotReady, health.ShuttingDown, health.Unknown}, want: NoHeir},
		{name: "one is ready", seen: []health.API{health.Gone, health.Untrusted, health.Ready}, want: ReadyHeir},
		{name: "one serves somebody else's certificate", seen: []health.API{health.Gone, health.Untrusted}, want: DoubtedHeir},
	} {
		if got := HeirAmong(tt.seen); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
