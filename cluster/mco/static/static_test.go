package static

import (
	"net/netip"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/bootstrap/dns"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestBootstrap_Waits holds that a bootstrap machine waits longer for the next holder if all nodes
// report that they have taken over, as one that systemd runs does. Beside nodes of another make it
// would hold the VIP too for so long. The platforms, whose timing a tree does not know, agree.
func TestBootstrap_Waits(t *testing.T) {
	platforms := []spec.Platform{
		spec.BareMetal, spec.VSphere, spec.OpenStack, spec.OVirt, spec.Nutanix,
	}
	for profile, want := range map[string]bool{
		"": true, vrrp.ProfileLan: true, vrrp.ProfileVM: true, vrrp.ProfileCompat: false,
	} {
		for _, platform := range platforms {
			p, err := plan.Compile(spec.Cluster{
				Name: "prod", BaseDomain: "example.com", Platform: platform, Timing: profile,
				APIVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.5")},
				IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
			})
			if err != nil {
				t.Fatal(err)
			}
			command := Bootstrap(p)[0].Containers[0].Command
			i, end := slices.Index(command, "--patience"), slices.Index(command, "--")
			if want != (i >= 0) || want && (i > end || command[i+1] != vrrp.Standing.String()) {
				t.Errorf("%s, timing %q: it runs %q", platform, profile, command)
			}
		}
	}
}

// TestBootstrap_ImagesDirectory holds that the configuration's directory hides none of the
// image's: Debian 13's keepalived ends without a file that its image has in /etc/keepalived.
func TestBootstrap_ImagesDirectory(t *testing.T) {
	p, err := plan.Compile(spec.Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal,
		APIVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.5")},
		IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	})
	if err != nil {
		t.Fatal(err)
	}
	daemon := Bootstrap(p)[0].Containers[0]
	i := slices.Index(daemon.Command, "--config")
	config, found := daemon.Command[i+1], false
	for _, m := range daemon.Mounts {
		at := m.Path
		if at == "" {
			at = m.Volume.Host
		}
		if strings.HasPrefix(keepalived.HostDir+"/", at+"/") {
			t.Errorf("%s of the host is mounted at %s", m.Volume.Host, at)
		}
		found = found || m.Volume.Host == keepalived.HostDir && m.Writable && path.Dir(config) == at
	}
	if !found {
		t.Errorf("%s is not in the host's %s: %+v", config, keepalived.HostDir, daemon.Mounts)
	}
}

// TestBootstrap_CoreDNSIsFound holds that our program finds CoreDNS by the command that the pod runs: it
// sends it a signal after a new Corefile.
func TestBootstrap_CoreDNSIsFound(t *testing.T) {
	p, err := plan.Compile(spec.Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal,
		APIVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.5")},
		IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, one := range Bootstrap(p) {
		for _, c := range one.Containers {
			if want := dns.Container(p).Command; c.Name == "coredns" {
				if found = true; !slices.Equal(c.Command, want) {
					t.Errorf("it runs %q, and our program searches for %q", c.Command, want)
				}
			}
		}
	}
	if !found {
		t.Error("no pod has CoreDNS")
	}
}
