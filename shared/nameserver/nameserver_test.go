package nameserver

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

func TestUpstreams(t *testing.T) {
	own := func(a netip.Addr) bool { return a == netip.MustParseAddr("192.0.2.10") }
	for _, tt := range []struct {
		name  string
		files []Resolver
		want  []string
		why   string
	}{
		{"no file", nil, nil, "no usable name server in any resolv.conf"},
		{"the first file", []Resolver{{"/a", []byte("nameserver 198.51.100.2\nnameserver 198.51.100.1\n")}, {"/b", []byte("nameserver 198.51.100.3\n")}},
			[]string{"198.51.100.2", "198.51.100.1"}, "name servers 198.51.100.2, 198.51.100.1 from /a"},
		{"behind one that leads back", []Resolver{{"/a", []byte("nameserver 192.0.2.10\nnameserver 127.0.0.53\n")}, {"/b", []byte("nameserver 192.0.2.10\nnameserver 198.51.100.3\n")}},
			[]string{"198.51.100.3"}, "name servers 198.51.100.3 from /b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, why := Upstreams(tt.files, own)
			var got []string
			for _, a := range found {
				got = append(got, a.String())
			}
			if !slices.Equal(got, tt.want) || why != tt.why {
				t.Errorf("%q, %q; want %q, %q", got, why, tt.want, tt.why)
			}
		})
	}
}

func TestAnnounced(t *testing.T) {
	networks := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	p := plan.Plan{Services: plan.Services{EtcdMembers: 3}, MachineNetworks: networks, VIPs: plan.VIPs{API: []netip.Addr{netip.MustParseAddr("192.0.2.5")}}}
	p.Cluster.Name = "ostest"
	here := addr.Snapshot{Links: []addr.Link{{Name: "eth0", Up: true, Addresses: []addr.Address{{Prefix: netip.MustParsePrefix("192.0.2.10/24")}}}}}
	for _, tt := range []struct {
		name  string
		links addr.Snapshot
		on    netip.Addr
	}{
		{"beside the VIP's address", here, netip.MustParseAddr("192.0.2.10")},
		{"no address yet", addr.Snapshot{}, netip.Addr{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, why := Announced(p, tt.links)
			if a.Cluster != "ostest" || a.Members != 3 || !slices.Equal(a.Networks, networks) || a.On != tt.on {
				t.Errorf("%+v (%s)", a, why)
			}
			if tt.on.IsValid() && why != fmt.Sprintf("announcements of nodes are received on the interface of %v", tt.on) {
				t.Errorf("why: %s", why)
			}
		})
	}
}
