package kubeapi

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/mco"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/manifest"
)

// TestInstall applies the operator's manifests to a cluster of each platform: kubelets have the
// rights of our objects there, and no others.
func TestInstall(t *testing.T) {
	c, s := Local(t, Server{})
	for _, platform := range []string{"kni", "nutanix", "openstack", "ovirt", "vsphere"} {
		apply(t, s, aNamespace("openshift-"+platform+"-infra"))
	}
	apply(t, s, aNamespace(health.RouterNamespace))
	set, err := mco.Tree(spec.Cluster{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range set.Tree() {
		if !strings.HasPrefix(f.Path, "/install/") {
			continue
		}
		for text := range strings.SplitSeq(strings.TrimPrefix(string(f.Contents), "---\n"), "---\n") {
			object, err := manifest.Object([]byte(text))
			if err != nil {
				t.Fatalf("%s: %v", f.Path, err)
			}
			apply(t, s, object)
		}
	}
	rights(t, c, s)
}
