//go:build remote

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/cluster/dns"
	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/members"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
)

// candidatesPlan is of the cluster whose nodes and candidates these tests keep.
var candidatesPlan = kubeapi.Plan()

// hostile is a cluster of a control plane node, which can keep the list of candidates, two workers,
// and the credentials of the second one.
type hostile struct {
	t       *testing.T
	server  *kubeapi.Server
	kubelet *kubeapi.Client  // worker-1's
	worker  *members.Cluster // what worker-0 knows
	master  *members.Cluster
	keeps   func() // starts the control plane node's writer of the list
}

func newHostile(t *testing.T) *hostile {
	p := candidatesPlan
	p.Distribution = spec.Kubernetes // no routers, and no namespace of theirs
	c, s := kubeapi.Local(t, kubeapi.Server{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Apply(t.Context(), kubeapi.Objects(p)...))
	for name, address := range map[string]string{"master-0": "192.0.2.20", "worker-0": "192.0.2.10", "worker-1": "192.0.2.11"} {
		n := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
		if name == "master-0" {
			n.Labels[p.ControlPlaneLabel] = ""
		}
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		must(s.Apply(t.Context(), n))
	}
	log := slog.New(slog.DiscardHandler)
	as := func(node string) (*kube.API, *kubeapi.Client) {
		id, err := c.Sign(kubeapi.Node(node))
		must(err)
		path := filepath.Join(t.TempDir(), "kubeconfig")
		must(os.WriteFile(path, c.Kubeconfig(s.URL(), id), 0o600))
		client, err := c.Client(s, id)
		must(err)
		return kube.NewAPI(path, log), client
	}
	h := &hostile{t: t, server: s}
	workers, _ := as("worker-0")
	masters, _ := as("master-0")
	_, h.kubelet = as("worker-1")
	h.worker, h.master = members.New(p, role.Worker, workers, log), members.New(p, role.Master, masters, log)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	wake, rounds := make(chan struct{}, 1), make(chan struct{}, 1)
	for _, run := range []func(context.Context, ...chan<- struct{}) error{h.worker.NodeWatch.Run, h.worker.List.Run, h.master.Published.Run} {
		running.Go(func() { _ = run(ctx, wake) })
	}
	running.Go(func() { _ = h.master.NodeWatch.Run(ctx, wake, rounds) })
	h.keeps = func() {
		running.Go(func() { _ = h.master.KeepCandidates(ctx, "master-0", rounds) })
	}
	t.Cleanup(func() { cancel(); running.Wait() })
	return h
}

// tries does something as worker-1's kubelet, and says whether the API has let it.
func (h *hostile) tries(what string, may bool, method, path string, body any) {
	h.t.Helper()
	err := h.kubelet.Do(h.t.Context(), method, path, body, nil)
	if (err == nil) != may {
		h.t.Errorf("a kubelet %s: %v, want it to be let: %t", what, err, may)
	}
}

// names are those of the candidates that worker-0 believes in.
func (h *hostile) names() (out []string) {
	list, _ := h.worker.Candidates()
	for _, c := range list {
		out = append(out, c.Name)
	}
	return out
}

func (h *hostile) believes(what string, want ...string) {
	h.t.Helper()
	for end := time.Now().Add(20 * time.Second); !slices.Equal(h.names(), want); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("%s: a worker believes in the candidates %v, want %v", what, h.names(), want)
		}
	}
}

// always is believes for as long as a write takes to arrive.
func (h *hostile) always(what string, want ...string) {
	h.t.Helper()
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got := h.names(); !slices.Equal(got, want) {
			h.t.Fatalf("%s: a worker believes in the candidates %v, want %v", what, got, want)
		}
	}
}

// migrationAwaits waits until these are the signs of an upgrade that a control plane node sees.
func (h *hostile) migrationAwaits(what string, want ...string) {
	h.t.Helper()
	signs := func() []string {
		nodes, _ := h.master.Nodes()
		return migrate.Upgrading(migrate.Members(nodes))
	}
	for end := time.Now().Add(20 * time.Second); !slices.Equal(signs(), want); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("%s: a migration waits for %q, want %q", what, signs(), want)
		}
	}
}

func withAnnotation(key, value string) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}}
}

func withLabel(key string, value any) map[string]any {
	return map[string]any{"metadata": map[string]any{"labels": map[string]any{key: value}}}
}

// TestHostileKubelet has one worker's kubelet try all that would take the ingress VIP off every
// node, or put a peer of its choice beside the control plane, in a real cluster with the rights
// that nodes have.
func TestHostileKubelet(t *testing.T) {
	h := newHostile(t)
	h.keeps()
	all := []string{"master-0", "worker-0", "worker-1"}
	h.believes("at first", all...)
	maps := "/api/v1/namespaces/" + candidatesPlan.Namespace + "/configmaps"
	object := func(name string, data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: candidatesPlan.Namespace, Name: name}, Data: data}
	}
	none, self := notice.EncodeCandidates(nil), []netip.Addr{netip.MustParseAddr("192.0.2.11")}
	h.tries("makes the former release's list", false, http.MethodPost, maps, object(notice.Candidates, none))
	h.tries("makes the bootstrap machine's object", false, http.MethodPost, maps, object(notice.Bootstrap, notice.EncodeBootstrap(self, 1)))
	if err := h.server.Apply(t.Context(), object(notice.Candidates, notice.EncodeCandidates(nil)), object(notice.Bootstrap, notice.EncodeBootstrap(nil, 0))); err != nil {
		t.Fatal(err)
	}
	h.tries("empties the former release's list", true, http.MethodPut, maps+"/"+notice.Candidates, object(notice.Candidates, none))
	h.tries("changes the bootstrap machine's object", false, http.MethodPut, maps+"/"+notice.Bootstrap, object(notice.Bootstrap, notice.EncodeBootstrap(self, 1)))
	h.tries("deletes the former release's list", false, http.MethodDelete, maps+"/"+notice.Candidates, nil)
	h.always("the former release's list is empty", all...)

	empty := notice.EncodePublished(notice.Published{Serial: 1 << 52})
	h.tries("writes a list on a control plane node's Node", false, http.MethodPatch, "/api/v1/nodes/master-0", withAnnotation(notice.PublishedKey, empty))
	h.tries("writes a list on its own Node", true, http.MethodPatch, "/api/v1/nodes/worker-1", withAnnotation(notice.PublishedKey, empty))
	h.tries("says on its own Node that the bootstrap machine is gone", true, http.MethodPatch, "/api/v1/nodes/worker-1", withAnnotation(notice.BootstrapGone, notice.Gone))
	h.tries("makes its Node one of the control plane", false, http.MethodPatch, "/api/v1/nodes/worker-1", withLabel(candidatesPlan.ControlPlaneLabel, ""))
	h.always("its own Node has an empty list", all...)
	if known, _ := h.master.NodeWatch.Known(); slices.ContainsFunc(known, func(n kube.Node) bool { return n.Gone }) {
		t.Error("a worker's word that the bootstrap machine is gone is believed")
	}

	h.claims(all)
	h.claimsNameServer()

	h.tries("reports that its Node is being changed", true, http.MethodPatch, "/api/v1/nodes/worker-1", withAnnotation("machineconfiguration.openshift.io/state", "Working"))
	h.tries("reports another version", true, http.MethodPatch, "/api/v1/nodes/worker-1/status", map[string]any{"status": map[string]any{"nodeInfo": map[string]any{"kubeletVersion": "v9.99.0"}}})
	h.migrationAwaits("it holds a migration up", "worker-1 being changed", "kubelets of 2 versions")

	const apart = "onprem-infra.node-restriction.kubernetes.io/no-vip"
	if err := h.server.Admin().Do(t.Context(), http.MethodPatch, "/api/v1/nodes/worker-1", withLabel(apart, ""), nil); err != nil {
		t.Fatal(err)
	}
	h.believes("an administrator keeps it from the VIPs", "master-0", "worker-0", "worker-2")
	h.migrationAwaits("an administrator excludes it")
	h.tries("takes the administrator's label away", false, http.MethodPatch, "/api/v1/nodes/worker-1", withLabel(apart, nil))
	list, _ := h.worker.Candidates()
	if text := notice.EncodeCandidates(list)["candidates"]; strings.Contains(text, "192.0.2.11") {
		t.Errorf("the candidates are %s", text)
	}
}

// claims has the kubelet give its Node the addresses of others, by annotation and without an
// InternalIP of its own, which is read for a family without one. One of the others comes after it by
// its name and by its age.
func (h *hostile) claims(all []string) {
	h.t.Helper()
	younger := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: "worker-2"}}
	younger.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.12"}}
	younger.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := h.server.Apply(h.t.Context(), younger); err != nil {
		h.t.Fatal(err)
	}
	all = append(slices.Clone(all), "worker-2")
	h.believes("a fourth node has joined", all...)
	addresses := func(a ...corev1.NodeAddress) map[string]any {
		return map[string]any{"status": map[string]any{"addresses": a}}
	}
	h.tries("annotates the other nodes' addresses", true, http.MethodPatch, "/api/v1/nodes/worker-1", withAnnotation("k8s.ovn.org/host-cidrs", `["192.0.2.12/24","192.0.2.20/24","192.0.2.10/24","192.0.2.11/24"]`))
	h.tries("removes its InternalIP", true, http.MethodPatch, "/api/v1/nodes/worker-1/status", addresses())
	h.always("it claims the addresses of all others", all...)
	h.tries("restores its InternalIP", true, http.MethodPatch, "/api/v1/nodes/worker-1/status", addresses(corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "192.0.2.11"}))
	h.always("it has its InternalIP again", all...)
}

// claimsNameServer has the kubelet give its Node the address of the site's name server as well: the
// CoreDNS of control plane nodes asks that on.
func (h *hostile) claimsNameServer() {
	h.t.Helper()
	const server = "198.51.100.53"
	var claimed []corev1.NodeAddress
	for _, a := range []string{"192.0.2.11", server} {
		claimed = append(claimed, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a})
	}
	h.tries("gives its Node a name server's address", true, http.MethodPatch, "/api/v1/nodes/worker-1/status", map[string]any{"status": map[string]any{"addresses": claimed}})
	room := dns.New(dns.Options{Plan: candidatesPlan, Role: role.Master})
	resolvers := []nameserver.Resolver{{Path: "resolv.conf", Text: []byte("nameserver 192.0.2.20\nnameserver " + server + "\n")}}
	listed := func(n dns.Node) bool { return slices.Contains(n.InternalIPs, netip.MustParseAddr(server)) }
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		nodes, _ := dnsNodes{h.master.NodeWatch}.Nodes()
		if slices.ContainsFunc(nodes, listed) {
			d, why := room.Decide(dns.Snapshot{Resolvers: resolvers, Nodes: nodes})
			if got := fmt.Sprint(d.Corefile.Upstreams); got != "["+server+"]" {
				h.t.Errorf("the control plane asks %s, as %q, want only %s", got, why, server)
			}
			return
		}
		if time.Now().After(end) {
			h.t.Fatalf("the control plane does not see the address: %+v", nodes)
		}
	}
}

// TestCandidates_Rollback has, in a real cluster, a control plane of the former release, which
// writes the ConfigMap alone, beside a worker of this one: the worker goes by it whatever list a
// Node has that nobody renews, and by a Node's list again when the control plane is of this release
// again.
func TestCandidates_Rollback(t *testing.T) {
	h := newHostile(t)
	list := func(names ...string) (all []notice.Candidate) {
		addresses := map[string]string{"master-0": "192.0.2.20", "worker-0": "192.0.2.10", "worker-1": "192.0.2.11"}
		for _, name := range names {
			all = append(all, notice.Candidate{Name: name, Addresses: []netip.Addr{netip.MustParseAddr(addresses[name])}})
		}
		return all
	}
	put := func(method, path string, names ...string) {
		t.Helper()
		object := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Data: notice.EncodeCandidates(list(names...)),
			ObjectMeta: metav1.ObjectMeta{Namespace: candidatesPlan.Namespace, Name: notice.Candidates}}
		path = "/api/v1/namespaces/" + candidatesPlan.Namespace + "/configmaps" + path
		if err := h.server.Admin().Do(t.Context(), method, path, object, nil); err != nil {
			t.Fatal(err)
		}
	}
	annotate := func(age time.Duration, names ...string) {
		t.Helper()
		text := notice.EncodePublished(notice.Published{Serial: uint64(time.Now().Add(-age).Unix()), Candidates: list(names...)})
		if err := h.server.Admin().Do(t.Context(), http.MethodPatch, "/api/v1/nodes/master-0", withAnnotation(notice.PublishedKey, text), nil); err != nil {
			t.Fatal(err)
		}
	}
	put(http.MethodPost, "", "master-0", "worker-0")
	h.believes("the former release alone", "master-0", "worker-0")
	annotate(time.Hour, "master-0", "worker-1")
	put(http.MethodPut, "/"+notice.Candidates, "worker-0", "worker-1")
	h.believes("a list of before the rollback", "worker-0", "worker-1")
	h.keeps()
	h.believes("the control plane is upgraded again", "master-0", "worker-0", "worker-1")
}
