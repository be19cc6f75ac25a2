package kubeapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

const (
	ours  = "openshift-kni-infra"
	label = "node-role.kubernetes.io/master"
)

// log is what a monitor logged.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// monitor follows what a monitor on a node follows, with that node's kubelet's credentials.
type monitor struct {
	api     *kube.API
	masters *kube.Watcher
	all     *kube.Watcher // nil on workers
	object  *kube.Object
	routers *kube.Endpoints // nil on workers
	wake    chan struct{}
	log     *log
}

func newMonitor(t testing.TB, kubeconfig string, master bool) *monitor {
	t.Helper()
	m := &monitor{wake: make(chan struct{}, 1), log: new(log)}
	m.api = kube.NewAPI(kubeconfig, slog.New(slog.NewTextHandler(m.log, nil)))
	m.masters, m.object = m.api.ControlPlane(label), m.api.Object(ours, notice.Candidates)
	follow := []func(context.Context, ...chan<- struct{}) error{m.masters.Run, m.object.Run}
	if master {
		m.all, m.routers = m.api.AllNodes(label), m.api.Endpoints(health.RouterNamespace, health.RouterService)
		follow = []func(context.Context, ...chan<- struct{}) error{m.all.Run, m.object.Run, m.routers.Run}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range follow {
		running.Go(func() { _ = run(ctx, m.wake) })
	}
	t.Cleanup(func() { cancel(); running.Wait() })
	return m
}

// eventually waits for a state that must be reached.
func eventually(t testing.TB, what string, m *monitor, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not come about that %s; the log:\n%s", what, m.log)
		}
	}
}

// kubelet writes a node's kubeconfig and gives its path.
func (c *Cluster) kubelet(t testing.TB, s *Server, node string) string {
	t.Helper()
	id, err := c.Sign(Node(node))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), node)
	if err := errors.Join(os.MkdirAll(dir, 0o700), c.WriteKubelet(dir, dir, s.URL(), id)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "kubeconfig")
}

func apply(t testing.TB, s *Server, objects ...runtime.Object) {
	t.Helper()
	if err := s.Apply(t.Context(), objects...); err != nil {
		t.Fatal(err)
	}
}

func aNode(name, address string, labels map[string]string) *corev1.Node {
	return &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

func aNamespace(name string) *corev1.Namespace {
	return &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func routersOn(nodes ...string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		TypeMeta:    metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
		ObjectMeta:  metav1.ObjectMeta{Namespace: health.RouterNamespace, Name: health.RouterService + "-x7k2p", Labels: map[string]string{discoveryv1.LabelServiceName: health.RouterService}},
		AddressType: discoveryv1.AddressTypeIPv4,
	}
	for i, node := range nodes {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("192.0.2.%d", 30+i)}, NodeName: &node, Conditions: discoveryv1.EndpointConditions{Ready: new(i < 2)}})
	}
	return s
}

var ourPlan = plan.Plan{Shape: plan.Shape{Platform: spec.BareMetal}, Nodes: spec.Nodes{Namespace: ours, ControlPlaneLabel: label}}

// TestAccess holds that our objects give kubelets the rights that they need, and no others; without
// the objects they have none.
func TestAccess(t *testing.T) {
	c, s := Local(t, Server{})
	apply(t, s, aNode("master-0", "192.0.2.20", map[string]string{label: ""}), aNode("worker-0", "192.0.2.10", nil), aNode("worker-1", "192.0.2.11", nil),
		aNamespace(health.RouterNamespace), routersOn("worker-0", "worker-1", "master-0"))
	master, worker := newMonitor(t, c.kubelet(t, s, "master-0"), true), newMonitor(t, c.kubelet(t, s, "worker-0"), false)
	for _, m := range []*monitor{master, worker} {
		eventually(t, "every watch is refused", m, func() bool { return strings.Count(m.log.String(), "forbidden") >= 2 })
	}
	if nodes, synced := worker.masters.Known(); synced || len(nodes) > 0 {
		t.Errorf("without a right to see Nodes a worker knows %v", nodes)
	}
	apply(t, s, Objects(ourPlan)...)
	eventually(t, "the worker knows the master and that there is no list", worker, func() bool {
		nodes, synced := worker.masters.Known()
		_, exists, known := worker.object.Data()
		return synced && len(nodes) == 1 && nodes[0].Name == "master-0" && nodes[0].Ready && known && !exists
	})
	eventually(t, "the master knows all Nodes and the routers", master, func() bool {
		nodes, synced := master.all.Known()
		routers, known := master.routers.Ready()
		return synced && len(nodes) == 3 && known && slices.Equal(routers, []string{"worker-0", "worker-1"})
	})
	if err := master.api.Annotate(t.Context(), "master-0", notice.PublishedKey, "a list"); err != nil {
		t.Errorf("the master writes: %v", err)
	}
	eventually(t, "the worker reads the list", worker, func() bool { nodes, _ := worker.masters.Known(); return nodes[0].List == "a list" })
	list := notice.EncodeCandidates([]notice.Candidate{})
	if err := worker.api.Put(t.Context(), ours, notice.Candidates, func(map[string]string) map[string]string { return list }); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("a kubelet creates the former release's list: %v, want a refusal", err)
	}
	apply(t, s, &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: ours, Name: notice.Candidates}})
	if err := master.api.Put(t.Context(), ours, notice.Candidates, func(map[string]string) map[string]string { return list }); err != nil {
		t.Errorf("the master writes the former release's list: %v", err)
	}
	eventually(t, "the worker reads it", worker, func() bool { data, exists, _ := worker.object.Data(); return exists && len(data) == 1 })
	if err := master.api.Delete(t.Context(), ours, notice.Candidates, func(map[string]string) bool { return true }); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("a kubelet deletes the list: %v, want a refusal", err)
	}
	claims(t, master)
	events(t, s, worker)
	rights(t, c, s)
}

// events has a kubelet create an event about its Node, which needs no right of ours, and finds it
// among the Node's events, as kubectl does.
func events(t *testing.T, s *Server, worker *monitor) {
	node, err := worker.api.NodeName()
	if err != nil || node != "worker-0" {
		t.Fatalf("the node is %q, %v", node, err)
	}
	at := time.Now()
	for _, of := range []string{"192.0.2.6", "192.0.2.7", "192.0.2.7"} { // of one instant, and one of them twice
		if err := worker.api.CreateNodeEvent(t.Context(), node, kube.Event{Reason: "VIPTaken", Message: "This node holds the VIP " + of, At: at, Warning: of == "192.0.2.7"}); err != nil {
			t.Fatal(err)
		}
	}
	var list corev1.EventList
	if err := s.Admin().Do(t.Context(), http.MethodGet, "/api/v1/events?fieldSelector=involvedObject.kind%3DNode,involvedObject.name%3Dworker-0,involvedObject.uid%3Dworker-0", nil, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 2 || list.Items[0].Reason != "VIPTaken" || list.Items[0].Type == list.Items[1].Type || list.Items[0].Source.Component != "onprem-infra" {
		t.Errorf("events of the Node: %+v", list.Items)
	}
}

// claims has a kubelet claim a rank on its own Node, which needs no right of ours, and on another
// Node, which the API must refuse. Other annotations of the Node stay.
func claims(t *testing.T, master *monitor) {
	for _, rank := range []string{"0", "3"} {
		if err := master.api.Annotate(t.Context(), "master-0", notice.Rank, rank); err != nil {
			t.Fatalf("claim rank %s: %v", rank, err)
		}
		eventually(t, "the master sees its claim", master, func() bool {
			nodes, _ := master.all.Known()
			n := nodes[slices.IndexFunc(nodes, func(n kube.Node) bool { return n.Name == "master-0" })]
			return n.Rank == rank && n.ControlPlane && n.Ready && !n.Created.IsZero() && len(n.InternalIPs) == 1
		})
	}
	for _, other := range []string{"worker-0", "nobody"} {
		if err := master.api.Annotate(t.Context(), other, notice.Rank, "0"); err == nil || !strings.Contains(err.Error(), "annotate Node "+other) {
			t.Errorf("a kubelet annotates %s: %v, want a refusal", other, err)
		}
	}
}

// rights asks the API for the rights of a kubelet.
func rights(t *testing.T, c *Cluster, s *Server) {
	id, err := c.Sign(Node("worker-0"))
	if err != nil {
		t.Fatal(err)
	}
	kubelet, err := c.Client(s, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		may                                     bool
		verbs, group, resource, namespace, name string
	}{
		{true, "get list watch", "", "nodes", "", ""},
		{false, "delete", "", "nodes", "", "worker-1"},
		{true, "get list watch update", "", "configmaps", ours, notice.Candidates},
		{false, "delete patch", "", "configmaps", ours, notice.Candidates},
		{true, "get list watch", "", "configmaps", ours, notice.Bootstrap},
		{false, "update patch delete", "", "configmaps", ours, notice.Bootstrap},
		{false, "create", "", "configmaps", ours, ""},
		{false, "create", "", "configmaps", ours, notice.Bootstrap},
		{false, "get list watch update", "", "configmaps", ours, ""},
		{false, "get list watch update", "", "configmaps", ours, "another"},
		{false, "get list watch create", "", "configmaps", "kube-system", notice.Candidates},
		{false, "get list watch", "", "secrets", ours, ""},
		{true, "get list watch", discoveryv1.GroupName, "endpointslices", health.RouterNamespace, ""},
		{false, "create update delete", discoveryv1.GroupName, "endpointslices", health.RouterNamespace, ""},
		{false, "list watch", discoveryv1.GroupName, "endpointslices", ours, ""},
		{false, "list", "", "secrets", health.RouterNamespace, ""},
	} {
		for verb := range strings.FieldsSeq(tt.verbs) {
			allowed(t, kubelet, tt.may, authorizationv1.ResourceAttributes{Verb: verb, Group: tt.group, Resource: tt.resource, Namespace: tt.namespace, Name: tt.name})
		}
	}
}

// allowed asks the API whether a kubelet may do something.
func allowed(t *testing.T, kubelet *Client, want bool, what authorizationv1.ResourceAttributes) {
	t.Helper()
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}
	if err := kubelet.Do(t.Context(), http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review, review); err != nil {
		t.Fatal(err)
	}
	if review.Status.Allowed != want {
		t.Errorf("a kubelet may %s %s %s/%s: %v, want %v", what.Verb, what.Resource, what.Namespace, what.Name, review.Status.Allowed, want)
	}
}
