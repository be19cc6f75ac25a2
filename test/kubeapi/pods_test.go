package kubeapi

import (
	"errors"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/manifest"
)

// TestPods creates the mirrors of our static pods in an API, as kubelets do: each is valid,
// admitted for a kubelet, and of its declared priority. In a namespace without our labels it is
// refused.
func TestPods(t *testing.T) {
	c, s := Local(t, Server{})
	p, err := plan.Compile(spec.Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal, Topology: spec.HighlyAvailableArbiter, ControlPlaneReplicas: 2,
		APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Images: map[string]string{spec.KeepalivedImage: "k:1", spec.HAProxyImage: "h:1", spec.CoreDNSImage: "c:1", spec.RuntimeCfgImage: "o:1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	careful := aNamespace("careful")
	careful.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "baseline"}
	apply(t, s, careful, aNamespace("openshift-ingress"))
	apply(t, s, Objects(p)...)
	for _, r := range role.Nodes() {
		name := string(r) + "-0"
		apply(t, s, aNode(name, "192.0.2.20", nil))
		var node corev1.Node
		id, err := c.Sign(Node(name))
		if err := errors.Join(err, s.Admin().Do(t.Context(), http.MethodGet, "/api/v1/nodes/"+name, nil, &node)); err != nil {
			t.Fatal(err)
		}
		kubelet, err := c.Client(s, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range staticPods(t, p, r) {
			show(pod, &node)
			var got corev1.Pod
			if err := posted(t, kubelet, pod, &got); err != nil {
				t.Errorf("%s shows %s: %v", name, pod.Name, err)
				continue
			}
			if *got.Spec.Priority != 2000001000 || got.Status.QOSClass != corev1.PodQOSBurstable {
				t.Errorf("%s has the priority %d and is %s", got.Name, *got.Spec.Priority, got.Status.QOSClass)
			}
			pod.Namespace = "careful"
			err := kubelet.Do(t.Context(), http.MethodPost, "/api/v1/namespaces/careful/pods", pod, nil)
			if refused := (Refusal{}); !errors.As(err, &refused) || !strings.Contains(refused.Message, "violates PodSecurity") {
				t.Errorf("%s in a namespace without our labels: %v, want a refusal", pod.Name, err)
			}
		}
	}
}

// posted has a kubelet show its mirror pod, also to a server that does not know the new Node yet.
func posted(t *testing.T, kubelet *Client, pod, got *corev1.Pod) (err error) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < 30*time.Second; time.Sleep(50 * time.Millisecond) {
		err = kubelet.Do(t.Context(), http.MethodPost, "/api/v1/namespaces/"+pod.Namespace+"/pods", pod, got)
		if refused := (Refusal{}); !errors.As(err, &refused) || refused.Code != http.StatusNotFound {
			return err
		}
	}
	return err
}

// staticPods are the static pods of a node.
func staticPods(t *testing.T, p plan.Plan, r role.Role) []*corev1.Pod {
	t.Helper()
	set, err := cluster.Assets(p, r)
	if err != nil {
		t.Fatal(err)
	}
	var list []*corev1.Pod
	for _, f := range set.Files() {
		if path.Dir(f.Path) != "/etc/kubernetes/manifests" {
			continue
		}
		pod, err := manifest.Pod(f.Contents)
		if err != nil {
			t.Fatalf("%s: %v", f.Path, err)
		}
		list = append(list, pod)
	}
	return list
}

// show is the mirror pod that a node's kubelet creates in the API for a static pod.
func show(pod *corev1.Pod, node *corev1.Node) {
	pod.Name += "-" + node.Name
	pod.Spec.NodeName = node.Name
	pod.Annotations[corev1.MirrorPodAnnotationKey] = "0123456789abcdef"
	pod.Annotations["kubernetes.io/config.source"] = "file"
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID, Controller: new(true)}}
}
