package cluster

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Each object says what it is, and none is there twice; whether a kubelet can do with them what it must, a real API judges (test/kubeapi).
func TestObjects(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*spec.Cluster)
		want   []string
	}{
		{"OpenShift", func(*spec.Cluster) {}, []string{
			"Namespace openshift-kni-infra", "ClusterRole onprem-infra-nodes", "ClusterRoleBinding onprem-infra-nodes",
			"Role openshift-kni-infra/onprem-infra-nodes", "RoleBinding openshift-kni-infra/onprem-infra-nodes",
			"Role openshift-ingress/onprem-infra-nodes", "RoleBinding openshift-ingress/onprem-infra-nodes"}},
		{"any Kubernetes", func(c *spec.Cluster) { c.Platform = spec.None }, []string{
			"Namespace onprem-infra", "ClusterRole onprem-infra-nodes", "ClusterRoleBinding onprem-infra-nodes",
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

func title(t *testing.T, o runtime.Object) string {
	t.Helper()
	about, err := meta.Accessor(o)
	if err != nil {
		t.Fatal(err)
	}
	kind := o.GetObjectKind().GroupVersionKind()
	if kind.Version != "v1" || kind.Kind == "" {
		t.Errorf("%T says it is a %v", o, kind)
	}
	if about.GetNamespace() != "" {
		return kind.Kind + " " + about.GetNamespace() + "/" + about.GetName()
	}
	return kind.Kind + " " + about.GetName()
}
