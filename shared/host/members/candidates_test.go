package members

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/cluster/candidates"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
)

// candidatesPlan is of the cluster whose nodes and candidates these tests keep.
var candidatesPlan = kubeapi.Plan()

// keeps has a control plane node keep the list, with its kubelet's credentials, until the test
// ends.
func keeps(t *testing.T, c *kubeapi.Cluster, s *kubeapi.Server, name string) {
	t.Helper()
	id, err := c.Sign(kubeapi.Node(name))
	dir := t.TempDir()
	if err := errors.Join(err, c.WriteKubelet(dir, dir, s.URL(), id)); err != nil {
		t.Fatal(err)
	}
	log, wake := slog.New(slog.DiscardHandler), make(chan struct{}, 1)
	api := kube.NewAPI(filepath.Join(dir, "kubeconfig"), log)
	cluster := New(candidatesPlan, role.Master, api, log)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = cluster.NodeWatch.Run(ctx, wake) })
	running.Go(func() { _ = cluster.KeepCandidates(ctx, name, wake) })
	t.Cleanup(func() { cancel(); running.Wait() })
}

// TestKeepCandidates has two control plane nodes keep the list in a real cluster, with the rights
// that nodes have: there is one list, it is right, and it is so again soon after somebody has
// spoilt it.
func TestKeepCandidates(t *testing.T) {
	c, s := kubeapi.Local(t, kubeapi.Server{})
	admin := func(method, path string, body any) error { return s.Admin().Do(t.Context(), method, path, body, nil) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Apply(t.Context(), &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "openshift-ingress"}}))
	must(s.Apply(t.Context(), kubeapi.Objects(candidatesPlan)...))
	join := func(name, address string, labels ...string) {
		n := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
		for _, l := range labels {
			n.Labels[l] = ""
		}
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		must(s.Apply(t.Context(), n))
	}
	join("master-0", "192.0.2.20", candidatesPlan.ControlPlaneLabel)
	join("master-1", "192.0.2.21", candidatesPlan.ControlPlaneLabel)
	join("worker-0", "192.0.2.10")
	join("arbiter-0", "192.0.2.22", "node-role.kubernetes.io/arbiter")
	join("remote-0", "192.0.2.11", "node.openshift.io/remote-worker")
	keeps(t, c, s, "master-1")
	keeps(t, c, s, "master-0")
	lists := func(what string, want ...string) {
		t.Helper()
		var got []string
		for deadline := time.Now().Add(25 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) { // before it is the second one's turn
			object := new(corev1.Node)
			must(s.Admin().Do(t.Context(), http.MethodGet, "/api/v1/nodes/master-0", nil, object))
			list, _ := notice.ReadPublished(object.Annotations[notice.PublishedKey], candidates.Cluster(candidatesPlan))
			got = nil
			for _, entry := range list.Candidates {
				got = append(got, entry.Name)
			}
			if slices.Equal(got, want) {
				return
			}
		}
		t.Errorf("%s: the list is %v, want %v", what, got, want)
	}
	lists("at first", "master-0", "master-1", "worker-0")
	must(admin(http.MethodPatch, "/api/v1/nodes/master-0", map[string]any{"metadata": map[string]any{"annotations": map[string]any{notice.PublishedKey: nil}}}))
	join("worker-1", "192.0.2.12")
	lists("the list was deleted and a worker joined", "master-0", "master-1", "worker-0", "worker-1")
}

// TestCandidatesRouters holds that routers are asked for where nodes may ask, and waited for there
// alone.
func TestCandidatesRouters(t *testing.T) {
	for platform, want := range map[spec.Platform]bool{spec.BareMetal: true, spec.None: false} {
		p := candidatesPlan
		p.Platform, p.Distribution = platform, ""
		api := kube.NewAPI("absent", slog.New(slog.DiscardHandler))
		h := newCandidatesHost(p, "master-0", api, api.AllNodes(p.ControlPlaneLabel))
		if asks, waits := h.routers != nil, !h.Observe().RoutersKnown; asks != want || waits != want {
			t.Errorf("%s: asks for routers %t, waits for them %t, want %t", platform, asks, waits, want)
		}
	}
}

// A writer whose knowledge is old overwrites nothing.
func TestCandidatesWriteOverWhatWasSeen(t *testing.T) {
	c, s := kubeapi.Local(t, kubeapi.Server{})
	id, err := c.Sign(kubeapi.Admin())
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := errors.Join(err, os.WriteFile(path, c.Kubeconfig(s.URL(), id), 0o600)); err != nil {
		t.Fatal(err)
	}
	h := candidatesHost{api: kube.NewAPI(path, slog.New(slog.DiscardHandler)), namespace: "default"}
	first, second := map[string]string{"candidates": "[]"}, map[string]string{"candidates": "[1]"}
	if err := h.WriteFormer(t.Context(), nil, first); err != nil {
		t.Fatal(err)
	}
	object := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: notice.Candidates}, Data: first}
	if err := s.Admin().Do(t.Context(), http.MethodPost, "/api/v1/namespaces/default/configmaps", object, nil); err != nil {
		t.Fatalf("the object was made by who only keeps it in step: %v", err)
	}
	for _, step := range []struct{ before, data, want map[string]string }{
		{nil, second, first},
		{second, second, first},
		{first, second, second},
	} {
		if err := h.WriteFormer(t.Context(), step.before, step.data); err != nil {
			t.Fatal(err)
		}
		object := new(corev1.ConfigMap)
		if err := s.Admin().Do(t.Context(), http.MethodGet, "/api/v1/namespaces/default/configmaps/"+notice.Candidates, nil, object); err != nil || !maps.Equal(object.Data, step.want) {
			t.Errorf("%v over %v: %v (%v), want %v", step.data, step.before, object.Data, err, step.want)
		}
	}
}
