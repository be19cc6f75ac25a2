package overview_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/overview"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
)

// TestSummary_Announced holds that the summary of a cluster whose hosts announce their VIPs has
// sessions, grades and what routers need, and nothing of VRRP unless both ways are used.
func TestSummary_Announced(t *testing.T) {
	c := spec.Cluster{Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("10.1.1.0/24"), netip.MustParsePrefix("10.1.2.0/24")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr("198.51.100.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("198.51.100.6")},
		Routing: spec.Routing{Management: routing.BGP, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{
			{Network: netip.MustParsePrefix("10.1.1.0/24"), Peers: []routing.Peer{{Address: netip.MustParseAddr("10.1.1.1"), ASN: 65101}, {Interface: "ens3"}}},
			{Name: "b", Network: netip.MustParsePrefix("10.1.2.0/24")}}}}}
	summary := func() string {
		t.Helper()
		p, err := plan.Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		v, err := overview.Of(p, func(plan.Plan, role.Role) ([]string, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v.Summary(100)
	}
	text := summary()
	for _, want := range []string{"198.51.100.5  api      the bootstrap machine, and each control plane node that serves", "AS 64512, mode ecmp",
		"lan: BFD 3 x 100 ms, a message every 3 s, hold time 9 s", "bootstrap machine 0, nodes 4, +1 with", "leaving 8",
		"rack 10.1.1.0/24", "10.1.1.1 (AS 65101), ens3 (any AS)", "rack b (10.1.2.0/24)", "the hosts' gateways", "480 ms", "routers need"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	for _, not := range []string{"VRRP", "VIRTUAL", "priorities", "advert"} {
		if strings.Contains(text, not) {
			t.Errorf("it has %q:\n%s", not, text)
		}
	}
	if lines := strings.Count(text, "\n"); lines > 45 {
		t.Errorf("it has %d lines:\n%s", lines, text)
	}
	c.Routing.BGP.Multiplier = 4
	if text := summary(); !strings.Contains(text, "timing                BFD 4 x 100 ms, a message") {
		t.Errorf("timers that are none of a profile:\n%s", text)
	}
	c.Routing.BGP.Multiplier = 0
	c.Routing.Management = routing.Both
	c.APIVIPs, c.IngressVIPs = []netip.Addr{netip.MustParseAddr("10.1.1.5")}, []netip.Addr{netip.MustParseAddr("10.1.1.6")}
	text = summary()
	for _, want := range []string{"VIRTUAL ROUTER ID", "priorities", "AS 64512, mode preferred", "rack b"} {
		if !strings.Contains(text, want) {
			t.Errorf("with both it lacks %q:\n%s", want, text)
		}
	}
}

// TestSummary_Proven holds that the summary of a cluster with a proof of its timing has the margin.
func TestSummary_Proven(t *testing.T) {
	c := spec.Cluster{Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: "fast",
		TimingProof: map[string]uint32{"m0": 900, "m1": 2100, "m2": 1000}, MachineNetworks: []netip.Prefix{netip.MustParsePrefix("10.1.1.0/24")},
		APIVIPs: []netip.Addr{netip.MustParseAddr("10.1.1.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("10.1.1.6")}}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	v, err := overview.Of(p, func(plan.Plan, role.Role) ([]string, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(v.Summary(100)), " ")
	if want := "m1 was 2.1ms late at worst, 25.878ms may be, and 103.515ms moves a VIP: 49 times as much; all nodes change to lan/unicast"; !strings.Contains(text, want) {
		t.Errorf("it lacks %q:\n%s", want, v.Summary(100))
	}
}
