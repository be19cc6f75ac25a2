package mco

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestBootstrapWaits holds that a bootstrap machine waits longer for who takes over where all nodes tell it that they have, as one that systemd runs does;
// one of another make would have the VIP too for so long. The platforms, whose timing a tree does not know, have that in common.
func TestBootstrapWaits(t *testing.T) {
	platforms := []spec.Platform{spec.BareMetal, spec.VSphere, spec.OpenStack, spec.OVirt, spec.Nutanix}
	for profile, want := range map[string]bool{"": true, vrrp.ProfileLan: true, vrrp.ProfileVM: true, vrrp.ProfileCompat: false} {
		for _, platform := range platforms {
			p, err := plan.Compile(spec.Cluster{
				Name: "prod", BaseDomain: "example.com", Platform: platform, Timing: profile,
				APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
			})
			if err != nil {
				t.Fatal(err)
			}
			command := BootstrapPods(p)[0].Containers[0].Command
			i, end := slices.Index(command, "--patience"), slices.Index(command, "--")
			if want != (i >= 0) || want && (i > end || command[i+1] != vrrp.Standing.String()) {
				t.Errorf("%s, timing %q: it runs %q", platform, profile, command)
			}
		}
	}
}
