package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Each object says what it is, and none is there twice; whether a kubelet can do with them what it
// must, a real API judges (test/kubeapi).
func TestObjects(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*spec.Cluster)
		want   []string
	}{
		{"OpenShift", func(*spec.Cluster) {}, []string{
			"Namespace openshift-kni-infra", "ClusterRole onprem-infra-nodes",
			"ClusterRoleBinding onprem-infra-nodes",
			"Role openshift-kni-infra/onprem-infra-nodes",
			"RoleBinding openshift-kni-infra/onprem-infra-nodes",
			"Role openshift-ingress/onprem-infra-nodes", "RoleBinding openshift-ingress/onprem-infra-nodes"}},
		{"any Kubernetes", func(c *spec.Cluster) { c.Platform = spec.None }, []string{
			"Namespace onprem-infra", "ClusterRole onprem-infra-nodes",
			"ClusterRoleBinding onprem-infra-nodes",
			"Role onprem-infra/onprem-infra-nodes", "RoleBinding onprem-infra/onprem-infra-nodes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, o := range Objects(compiled(t, tt.change)) {
				got = append(got, title(t, o))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Objects() = %q, want %q", got, tt.want)
			}
		})
	}
}

func title(t *testing.T, o object.Object) string {
	t.Helper()
	about := o.About()
	if !strings.HasSuffix(about.APIVersion, "v1") || about.Kind == "" {
		t.Errorf("%T says it is a %s of %s", o, about.Kind, about.APIVersion)
	}
	if about.Metadata.Namespace != "" {
		return about.Kind + " " + about.Metadata.Namespace + "/" + about.Metadata.Name
	}
	return about.Kind + " " + about.Metadata.Name
}
