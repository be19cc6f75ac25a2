package plan

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

// announcing is a cluster of one rack whose VIPs come to hosts in a way: for bgp they are in no network of hosts.
func announcing(management spec.Management) spec.Cluster {
	c := smallest()
	c.MachineNetworks = networks("192.0.2.0/24")
	c.APIVIPs, c.IngressVIPs = addresses("192.0.2.5"), addresses("192.0.2.6")
	if management == spec.ByBGP {
		c.APIVIPs, c.IngressVIPs = addresses("198.51.100.5"), addresses("198.51.100.6")
	}
	c.Routing = spec.Routing{Management: management, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{
		{Network: netip.MustParsePrefix("192.0.2.0/24"), Peers: []routing.Peer{{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65101}}}}}}
	return c
}

func TestCompileRouted(t *testing.T) {
	golden.Check(t, indented(t, mustCompile(t, announcing(spec.ByBGP))))
}

// TestRouted holds what a cluster has of VRRP and of BGP in each way: elections and their bounds, keepalived and FRR.
func TestRouted(t *testing.T) {
	for management, want := range map[spec.Management]struct{ keepalived, speaks, workerSpeaks bool }{
		spec.ByVRRP: {keepalived: true}, spec.ByBGP: {speaks: true, workerSpeaks: true}, spec.ByBoth: {true, true, true},
	} {
		c := announcing(management)
		if management == spec.ByVRRP {
			c.Routing = spec.Routing{}
		}
		p := mustCompile(t, c)
		holds, dns := p.BootstrapRuns()
		runs := p.NodeRuns(role.Master)
		if holds != want.keepalived || !dns || runs.VIP != want.keepalived || runs.Speaks != want.speaks || (p.BGP != nil) != want.speaks ||
			p.NodeRuns(role.Worker).Speaks != want.workerSpeaks || p.ByVRRP() != want.keepalived || p.Management != management {
			t.Errorf("%s: holds %v, runs %+v, BGP %v, %s", management, holds, runs, p.BGP, p.Management)
		}
		if elected := scenarios(p.Timing.Bounds); strings.Contains(elected, " power-loss ") != want.keepalived {
			t.Errorf("%s: the bounds of elections are%s", management, elected)
		}
		if _, has := p.Ports["speaker"]; has != want.speaks {
			t.Errorf("%s: the ports %v", management, p.Ports)
		}
		if !want.speaks {
			continue
		}
		for _, one := range []string{" bgp-power-loss ", " bgp-graceful ", " bgp-handover "} {
			if text := scenarios(p.BGP.Bounds); !strings.Contains(text, one) {
				t.Errorf("%s: the bounds%s lack%s", management, text, one)
			}
		}
	}
	c := announcing(spec.ByBGP)
	c.IngressVIPs = nil
	c.Platform, c.Distribution = spec.None, spec.Kubernetes
	if c.LoadBalancer = spec.UserManaged; mustFail(t, c) == "" {
		t.Error("VIPs of a balancer of the user's own are announced")
	}
}

// TestRouted_Migration holds that nodes have what both plans need, until the migration is over.
func TestRouted_Migration(t *testing.T) {
	c := announcing(spec.ByBoth)
	c.MigrateFrom.Management = spec.ByVRRP
	forth := mustCompile(t, c)
	c = announcing(spec.ByVRRP)
	c.MigrateFrom.Management = spec.ByBoth
	back := mustCompile(t, c)
	for name, p := range map[string]Plan{"forth": forth, "back": back} {
		if runs := p.NodeRuns(role.Master); !runs.VIP || !runs.Speaks {
			t.Errorf("%s: %+v", name, runs)
		}
		if p.Former == nil || (p.BGP == nil) == (p.Former.BGP == nil) || p.Way() == p.Former.Way() || p.MigrateFrom != p.Former.Way() {
			t.Errorf("%s: %v, %v", name, p.Way(), p.MigrateFrom)
		}
	}
	if got := forth.Way().String() + " " + back.Way().String(); got != "lan/unicast/both lan/unicast" {
		t.Error(got)
	}
}

func mustFail(t *testing.T, c spec.Cluster) string {
	t.Helper()
	if _, err := Compile(c); err != nil {
		return err.Error()
	}
	return ""
}

func scenarios(all []bound.Bound) string {
	text := " "
	for _, b := range all {
		text += b.Scenario + " "
	}
	return text
}
