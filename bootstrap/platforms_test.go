package bootstrap

import (
	"bytes"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestPlatformsDifferInThePlanOnly holds P-09: copies of one template for each platform drift
// apart, and fixes miss some of them for months. A platform's machine differs from every other's in
// what cluster.json says, and in nothing else.
func TestPlatformsDifferInThePlanOnly(t *testing.T) {
	tree := func(platform spec.Platform) []asset.File {
		set, err := Assets(cluster(t, func(c *spec.Cluster) {
			c.Platform, c.Distribution = platform, spec.OpenShift
		}))
		if err != nil {
			t.Fatal(err)
		}
		return set.Tree()
	}
	first := tree(platforms[0])
	for _, platform := range platforms[1:] {
		other := tree(platform)
		if len(other) != len(first) {
			t.Errorf("%s has %d files, %s %d", platform, len(other), platforms[0], len(first))
		}
		for _, f := range other {
			i := slices.IndexFunc(first, func(o asset.File) bool { return o.Path == f.Path })
			switch {
			case i < 0:
				t.Errorf("only %s has %s", platform, f.Path)
			case f.Path != plan.Path && (f.Mode != first[i].Mode ||
				!bytes.Equal(f.Contents, first[i].Contents)):
				t.Errorf("%s: %s differs from that of %s", platform, f.Path, platforms[0])
			}
		}
	}
}
