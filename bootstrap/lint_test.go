package bootstrap

import (
	"bytes"
	"net/netip"
	"path"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// platforms are all of those that a bootstrap machine may stand on.
var platforms = []spec.Platform{
	spec.BareMetal, spec.Nutanix, spec.OpenStack, spec.OVirt, spec.VSphere, spec.None,
}

// everywhere calls check with what each kind of cluster brings to its machine.
func everywhere(t *testing.T, check func(t *testing.T, p plan.Plan, tree []asset.File)) {
	t.Helper()
	kinds := map[string]func(*spec.Cluster){
		"managed":      func(*spec.Cluster) {},
		"user-managed": func(c *spec.Cluster) { c.LoadBalancer = spec.UserManaged },
		"IPv6": func(c *spec.Cluster) {
			c.APIVIPs, c.IngressVIPs = []netip.Addr{netip.MustParseAddr(
				"2001:db8::5",
			)}, []netip.Addr{netip.MustParseAddr("2001:db8::6")}
		},
		"without VIPs": func(c *spec.Cluster) { c.APIVIPs, c.IngressVIPs = nil, nil },
	}
	for _, platform := range platforms {
		for name, change := range kinds {
			if name == "without VIPs" && platform != spec.VSphere && platform != spec.Nutanix {
				continue // no such cluster
			}
			t.Run(string(platform)+" "+name, func(t *testing.T) {
				p := cluster(t, func(c *spec.Cluster) { c.Platform = platform; change(c) })
				set, err := Assets(p)
				if err != nil {
					t.Fatal(err)
				}
				check(t, p, set.Tree())
			})
		}
	}
	t.Run("provisions hosts", func(t *testing.T) {
		c, p := described(t, withHosts, provisioning())
		set, err := AssetsWith(p, options(c))
		if err != nil {
			t.Fatal(err)
		}
		check(t, p, set.Tree())
	})
}

// programs are the files that are executed; everything else is only read.
var programs = []string{
	"/usr/local/bin/onprem-install", "/etc/NetworkManager/dispatcher.d/30-local-dns-prepender",
}

// TestModes holds what everybody on the machine may do with our files: read them, but the one with
// secrets, and run the scripts. Nothing is written but by root, nothing changes its user, and no script loses the bit
// without which nobody runs it (P-08).
func TestModes(t *testing.T) {
	everywhere(t, func(t *testing.T, _ plan.Plan, tree []asset.File) {
		for _, f := range tree {
			want := 0o644
			if slices.Contains(programs, f.Path) {
				want = 0o755
			}
			if f.Path == layout.Hosts {
				want = 0o600
			}
			if int(f.Mode) != want {
				t.Errorf("%s has mode %v, want %04o", f.Path, f.Mode, want)
			}
			if script := bytes.HasPrefix(f.Contents, []byte("#!")); script != (want == 0o755) {
				t.Errorf("%s: a script %v, mode %v: what is executed must be on the list of programs, and nothing else", f.Path, script, f.Mode)
			}
		}
	})
}

// TestNothingIsEmpty holds P-03: a file without contents is one that a condition emptied and nobody
// left out.
func TestNothingIsEmpty(t *testing.T) {
	everywhere(t, func(t *testing.T, _ plan.Plan, tree []asset.File) {
		for _, f := range tree {
			if len(bytes.TrimSpace(f.Contents)) == 0 {
				t.Errorf("%s is empty", f.Path)
			}
		}
	})
}

// TestUnitsOnlyForWhatRuns holds P-02: where nothing is held or answered, no unit of ours is there
// to fail.
func TestUnitsOnlyForWhatRuns(t *testing.T) {
	everywhere(t, func(t *testing.T, p plan.Plan, tree []asset.File) {
		vip, dns := p.BootstrapRuns()
		for unit, want := range map[string]bool{
			"onprem-keepalived.service": vip && len(p.VIPs.API) > 0,
			"onprem-coredns.service":    dns && len(p.VIPs.API) > 0,
			"onprem-install.service":    vip || dns, "onprem-resolv.service": dns,
			"onprem-ironic.service": Provisions(p), "onprem-provision.service": Provisions(p),
		} {
			got := slices.ContainsFunc(tree, func(f asset.File) bool {
				return path.Base(f.Path) == unit
			})
			if got != want || got && len(p.VIPs.API) == 0 {
				t.Errorf("%s is there: %v, want %v with the VIPs %v", unit, got, want, p.VIPs.API)
			}
		}
	})
}
