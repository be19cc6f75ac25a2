package bootstrap

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// routed makes hosts announce the VIPs, by BGP alone or beside VRRP.
func routed(by spec.Management) func(*spec.Cluster) {
	return func(c *spec.Cluster) {
		c.MachineNetworks = []netip.Prefix{netip.MustParsePrefix("10.1.1.0/24")}
		c.ControlPlaneReplicas = 3
		c.Images[spec.FRRImage] = "f"
		c.Routing = spec.Routing{Management: by, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{
			{Network: netip.MustParsePrefix("10.1.1.0/24"), Peers: []routing.Peer{{Address: netip.MustParseAddr("10.1.1.1"), ASN: 65101}}},
		}}}
		if by == routing.Both {
			c.APIVIPs, c.IngressVIPs = []netip.Addr{netip.MustParseAddr("10.1.1.5")}, []netip.Addr{netip.MustParseAddr("10.1.1.6")}
		}
	}
}

// TestAnnounces holds which units a machine has that announces the VIP, and that it has the passwords of
// routers in a file for root alone.
func TestAnnounces(t *testing.T) {
	for _, tt := range []struct {
		by         spec.Management
		keepalived bool
	}{{spec.ByBGP, false}, {routing.Both, true}} {
		p := cluster(t, routed(tt.by))
		for _, passwords := range [][]byte{nil, []byte("10.1.1.1 s3cret\n")} {
			set, err := AssetsWith(p, Options{Passwords: passwords})
			if err != nil {
				t.Fatal(err)
			}
			var units []string
			for _, u := range set.Units() {
				units = append(units, u.Name)
			}
			if !slices.Contains(units, "onprem-speaker.service") || slices.Contains(units, "onprem-keepalived.service") != tt.keepalived {
				t.Errorf("%s: %v", tt.by, units)
			}
			i := slices.IndexFunc(set.Files(), func(f asset.File) bool { return f.Path == spoken.PasswordsFile })
			if (i >= 0) != (passwords != nil) || i >= 0 && (set.Files()[i].Mode != 0o600 || string(set.Files()[i].Contents) != string(passwords)) {
				t.Errorf("%s: %v", tt.by, set.Paths())
			}
		}
		if paths, err := Paths(p); err != nil || !slices.Contains(paths, spoken.PasswordsFile) {
			t.Errorf("%s: %v, %v", tt.by, paths, err)
		}
	}
}

// TestAnnounces_Wrong holds what is refused, all at once and without a password.
func TestAnnounces_Wrong(t *testing.T) {
	p := cluster(t, func(c *spec.Cluster) { routed(spec.ByBGP)(c); delete(c.Images, spec.FRRImage) })
	_, err := AssetsWith(p, Options{Passwords: []byte("10.1.1.1 s3cret\n10.1.1.9 s3cret\n")})
	if !errors.As(err, new(plan.MissingImages)) || !errors.As(err, new(announcing.UnknownPeers)) || !strings.Contains(err.Error(), "images.frrImage") ||
		!strings.Contains(err.Error(), "10.1.1.9") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("%v", err)
	}
	if _, err := AssetsWith(cluster(t, func(*spec.Cluster) {}), Options{Passwords: []byte("10.1.1.1 s3cret\n")}); err == nil {
		t.Error("passwords for a cluster that has no routers are taken")
	}
}
