package cluster

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/manifest"
)

// TestManifests holds that each object is written as it is meant, and that the names are in the
// order in which they are applied.
func TestManifests(t *testing.T) {
	p := compiled(t, func(*spec.Cluster) {})
	set, err := Manifests(p)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/01-namespace.yaml", "/02-clusterrole.yaml", "/03-clusterrolebinding.yaml",
		"/04-role-openshift-kni-infra.yaml",
		"/05-rolebinding-openshift-kni-infra.yaml", "/06-role-openshift-ingress.yaml",
		"/07-rolebinding-openshift-ingress.yaml",
	}
	if got := set.Paths(); !slices.Equal(got, want) {
		t.Fatalf("files %q, want %q", got, want)
	}
	for _, f := range set.Files() {
		if err := manifest.Exact(f.Contents); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
}

// TestNamespaceOfPods holds P-04: a pod of which an API server does not know the namespace is not
// shown there, and nobody sees that it fails. Where there are no pods, nothing asks for rights.
func TestNamespaceOfPods(t *testing.T) {
	list, err := nodes()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		set, err := Manifests(n.plan)
		if err != nil {
			t.Fatal(err)
		}
		namespaces := map[string]bool{}
		for _, f := range set.Files() {
			object, err := manifest.Object(f.Contents)
			if err != nil {
				t.Fatal(err)
			}
			if namespace, ok := object.(*corev1.Namespace); ok {
				namespaces[namespace.Name] = namespace.Labels["pod-security.kubernetes.io/enforce"] == "privileged"
			}
		}
		for path, p := range n.pods {
			if !namespaces[p.Namespace] {
				t.Errorf(
					"%s: %s is in the namespace %q, and the cluster gets %v", n.name, path,
					p.Namespace, namespaces,
				)
			}
		}
		if len(n.pods) == 0 && len(set.Files()) > 0 {
			t.Errorf("%s: no pod runs, and the cluster gets %v", n.name, set.Paths())
		}
	}
}

// TestNamespaceOnOpenShift holds what keeps OpenShift's own controllers from the namespace: one
// that sets pod security levels by the rights of accounts, and one that sends pods where a
// project's default selector says. Elsewhere nobody knows the names.
func TestNamespaceOnOpenShift(t *testing.T) {
	list, err := nodes()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		about := Objects(n.plan)[0].About().Metadata
		sync, labelled := about.Labels["security.openshift.io/scc.podSecurityLabelSync"]
		selector, named := about.Annotations["openshift.io/node-selector"]
		openShift := n.plan.Flavour().Around
		if openShift != labelled || openShift != named || selector != "" || openShift &&
			sync != "false" {
			t.Errorf(
				"%s: label sync %q (%v), node selector %q (%v)", n.name, sync, labelled, selector,
				named,
			)
		}
	}
}
