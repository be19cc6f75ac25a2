package nodeip

import (
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
)

// TestOf_Routed holds that only where VIPs come by BGP alone a node may be in a network without any of them
// and not be remote: beside VRRP it cannot hold them.
func TestOf_Routed(t *testing.T) {
	for management, want := range map[spec.Management]bool{"": false, spec.ByVRRP: false, spec.ByBoth: false, spec.ByBGP: true} {
		network := "192.0.2."
		if want {
			network = "203.0.113."
		}
		c := spec.Cluster{Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3,
			MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, APIVIPs: addresses(network + "5"), IngressVIPs: addresses(network + "6")}
		if management == spec.ByBGP || management == spec.ByBoth {
			c.Routing = spec.Routing{Management: management, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{{Network: c.MachineNetworks[0]}}}}
		}
		p, err := plan.Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := Of(p).Routed; got != want {
			t.Errorf("%q: %v", management, got)
		}
	}
}
