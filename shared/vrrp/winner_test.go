package vrrp

import (
	"net/netip"
	"testing"
)

func TestWinner(t *testing.T) {
	node := func(priority Priority,
		address string) Router {
		return Router{priority, netip.MustParseAddr(address)}
	}
	tests := []struct {
		name  string
		nodes []Router
		want  int
		ok    bool
	}{
		{name: "no router"},
		{name: "no candidate", nodes: []Router{node(0, "192.0.2.1")}},
		{name: "priority before address",
			nodes: []Router{node(68, "192.0.2.200"), node(70, "192.0.2.1"),
				node(43, "192.0.2.9")}, want: 1, ok: true},
		{name: "the higher address among equals",
			nodes: []Router{node(68, "192.0.2.9"), node(68, "192.0.2.10"),
				node(68, "192.0.2.2")}, want: 1, ok: true},
		{name: "IPv6 among equals",
			nodes: []Router{node(68, "2001:db8::9"), node(68, "2001:db8::10")}, want: 1, ok: true},
		{name: "who left does not count",
			nodes: []Router{node(0, "2001:db8::1"), node(40, "192.0.2.1")}, want: 1, ok: true},
		{name: "families never meet",
			nodes: []Router{node(70, "192.0.2.1"), node(68, "2001:db8::1")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := Winner(tt.nodes); got != tt.want || ok != tt.ok {
				t.Errorf("Winner = %d, %v; want %d, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}
