package mco

import (
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestInstall holds that what the cluster version operator applies is marked for it, names each
// platform's namespace, and that nothing in the namespace of another operator comes before the end.
func TestInstall(t *testing.T) {
	set, err := Tree(spec.Cluster{})
	if err != nil {
		t.Fatal(err)
	}
	var namespaces []string
	found := 0
	for _, f := range set.Tree() {
		if !strings.HasPrefix(f.Path, "/install/") {
			continue
		}
		found++
		for _, object := range strings.Split(
			strings.TrimPrefix(string(f.Contents), "---\n"), "---\n",
		) {
			if !strings.Contains(
				object, `include.release.openshift.io/self-managed-high-availability: "true"`,
			) {
				t.Errorf("%s: no operator applies\n%s", f.Path, object)
			}
			for line := range strings.Lines(object) {
				if name, ok := strings.CutPrefix(line, "  namespace: "); ok {
					namespaces = append(namespaces, strings.TrimSpace(name))
				}
			}
			if routers := strings.Contains(
				object, "namespace: openshift-ingress",
			); routers != (f.Path == RoutersFile) {
				t.Errorf("%s holds\n%s", f.Path, object)
			}
		}
	}
	slices.Sort(namespaces)
	want := []string{
		"openshift-ingress", "openshift-kni-infra", "openshift-nutanix-infra",
		"openshift-openstack-infra", "openshift-ovirt-infra", "openshift-vsphere-infra",
	}
	if got := slices.Compact(namespaces); found != 2 || !slices.Equal(got, want) {
		t.Errorf("%d files give rights in %v, want 2 in %v", found, got, want)
	}
}
