package inspect_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestVIPs_RankOfBothFamilies holds that the priority of both ingress VIPs is explained by the rank
// that the node has configured: that of its address for the first of them.
func TestVIPs_RankOfBothFamilies(t *testing.T) {
	p, err := plan.Compile(spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal,
		ControlPlaneReplicas: 3, Timing: vrrp.ProfileLan,
		MachineNetworks: []netip.Prefix{
			netip.MustParsePrefix("192.0.2.0/24"),
			netip.MustParsePrefix("2001:db8::/64"),
		},
		APIVIPs: []netip.Addr{
			netip.MustParseAddr("192.0.2.5"),
			netip.MustParseAddr("2001:db8::5"),
		},
		IngressVIPs: []netip.Addr{
			netip.MustParseAddr("192.0.2.6"),
			netip.MustParseAddr("2001:db8::6"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	e, four := election.Find(p, vrrp.Ingress), netip.MustParseAddr("192.0.2.11")
	adds := func(a netip.Addr) int { return e.Scheme.Candidates().Rank(e.Scheme.Candidates().Spread(a)) }
	six := netip.MustParseAddr("2001:db8::11")
	for adds(six) == adds(four) {
		six = six.Next()
	}
	o := election.Observation{
		Links: addr.Snapshot{
			Links: []addr.Link{{Index: 2, Name: "ens3", Up: true, Addresses: []addr.Address{
				{Prefix: netip.PrefixFrom(four, 24)}, {Prefix: netip.PrefixFrom(six, 64)},
			}}},
		},
	}
	priority := int(e.Scheme.Base) + adds(four)
	status := supervised.Status{Instances: map[string]supervised.Instance{
		"ostest_INGRESS_0": {State: supervised.Backup, Priority: priority},
		"ostest_INGRESS_1": {State: supervised.Backup, Priority: priority},
	}}
	for _, v := range fakehost.New(t, p, nil).VIPs(o, status, nil) {
		unexplained := func(p inspect.Part) bool { return p.Name == "unexplained" }
		if v.For == vrrp.Ingress &&
			(len(v.Parts) == 0 || slices.ContainsFunc(v.Parts, unexplained)) {
			t.Errorf("%s: %+v", v.Address, v.Parts)
		}
	}
}
