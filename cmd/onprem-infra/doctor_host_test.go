//go:build remote

package main

import (
	"os"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/drift"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestOwnDrift holds that doctor sees which files of this host differ from their plan, be it this
// host's or another one.
func TestOwnDrift(t *testing.T) {
	p := fakehost.PlanWithImages(t)
	host := fakehost.Doctor(t, p)
	differ := func(p plan.Plan) (paths []string) {
		t.Helper()
		report, err := ownDrift(host.Files, p, role.Master)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range report.Changes {
			if c.Kind == drift.Differs {
				paths = append(paths, c.Path)
			}
		}
		return paths
	}
	if got := differ(p); len(got) > 0 {
		t.Errorf("by their own plan %q differ", got)
	}
	other := fakehost.Plan(t, vrrp.ProfileVM)
	other.Images = p.Images
	if got := differ(other); len(got) == 0 || got[0] != plan.Path {
		t.Errorf("by another plan %q differ", got)
	}
	const manifest = "/etc/kubernetes/manifests/haproxy.yaml"
	if err := os.WriteFile(host.Files.Path(manifest), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := differ(p); len(got) != 1 || got[0] != manifest {
		t.Errorf("of a changed manifest %q differ", got)
	}
}
