package plan

import (
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
)

// TestRanks holds that nodes are ranked by the size of the control plane, whether that is written or
// follows from the topology, on hosts too; and that beside VRRP there is a rank for the holder.
func TestRanks(t *testing.T) {
	for _, tt := range []struct {
		name       string
		size       int
		management spec.Management
		mode       string
		want       int
	}{
		{"alike", 3, spec.ByBGP, "", 0},
		{"three", 3, spec.ByBGP, routing.Preferred, 3},
		{"not written", 0, spec.ByBGP, routing.Preferred, 3},
		{"five", 5, spec.ByBGP, routing.Preferred, 5},
		{"beside VRRP", 3, spec.ByBoth, "", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			network, vips := netip.MustParsePrefix("192.0.2.0/24"), []string{"198.51.100.5", "198.51.100.6"}
			if tt.management == spec.ByBoth {
				vips = []string{"192.0.2.5", "192.0.2.6"}
			}
			c := spec.Cluster{
				Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: tt.size, MachineNetworks: []netip.Prefix{network},
				APIVIPs: []netip.Addr{netip.MustParseAddr(vips[0])}, IngressVIPs: []netip.Addr{netip.MustParseAddr(vips[1])},
				Routing: spec.Routing{Management: tt.management, BGP: routing.BGPSettings{ASN: 64512, Mode: tt.mode, Racks: []routing.Rack{{Network: network}}}},
			}
			p, err := Compile(c)
			if err != nil {
				t.Fatal(err)
			}
			again := reread(t, Encode(p))
			if p.BGP.Policy.Ranks != tt.want || again.BGP.Policy != p.BGP.Policy {
				t.Errorf("%+v, on a host %+v, want %d ranks", p.BGP.Policy, again.BGP.Policy, tt.want)
			}
		})
	}
}
