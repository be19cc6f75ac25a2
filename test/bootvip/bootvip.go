// Package bootvip is a bootstrap machine and its cluster, for the tests of the rooms that hold the
// API VIP there.
package bootvip

import (
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

var ip = netip.MustParseAddr

// Compile is the plan of an IPv4 cluster after a change, which may be nil.
func Compile(t *testing.T, change func(*spec.Cluster)) plan.Plan {
	t.Helper()
	c := spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal,
		ControlPlaneReplicas: 3, Timing: vrrp.ProfileCompat,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         []netip.Addr{ip("192.0.2.5")}, IngressVIPs: []netip.Addr{ip("192.0.2.6")},
		Images: map[string]string{"keepalivedImage": "registry.example.com/keepalived:1"},
	}
	if change != nil {
		change(&c)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Dual makes the cluster a dual-stack one.
func Dual(c *spec.Cluster) {
	c.MachineNetworks = append(c.MachineNetworks, netip.MustParsePrefix("2001:db8::/64"))
	c.APIVIPs = append(c.APIVIPs, ip("2001:db8::5"))
	c.IngressVIPs = append(c.IngressVIPs, ip("2001:db8::6"))
}

// Links is a machine with one link that has so many addresses.
func Links(prefixes ...string) addr.Snapshot {
	l := addr.Link{Index: 2, Name: "enp1s0", Up: true}
	for _, p := range prefixes {
		l.Addresses = append(l.Addresses, addr.Address{Prefix: netip.MustParsePrefix(p)})
	}
	return addr.Snapshot{Links: []addr.Link{l}}
}

// BehindRouter is a machine in another network than the VIP's.
func BehindRouter() addr.Snapshot {
	s := Links("198.51.100.10/24")
	s.Routes = []addr.Route{{
		LinkIndex: 2, Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: ip("198.51.100.1"),
	}}
	return s
}
