package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/cluster/workload/reads"
	"github.com/onprem-infra/onprem-infra/shared/host/barehosts"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale/bare"
	workerstate "github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

const (
	bareHostsOf = "/apis/metal3.io/v1alpha1/namespaces/" + object.HostNamespace + "/baremetalhosts"
	bareSecrets = "/api/v1/namespaces/" + object.HostNamespace + "/secrets"
	bareIronic  = "/apis/apps/v1/namespaces/" + object.HostNamespace + "/deployments/metal3-ironic/status"
	joins       = "#cloud-config\nruncmd: [kubeadm join 192.0.2.5:6443 --token abcdef.s3cret]\n"
	controlNode = "node-role.kubernetes.io/control-plane"
)

// kubelets is what a host that metal3 has written does, and its kubelet with pods that are to end.
func (o *operators) kubelets() {
	hosts := map[string]object3{}
	for _, h := range o.list(bareHostsOf) {
		hosts[h.Metadata.Name] = h
		if h.Status.Provisioning.State != "provisioned" || !h.Status.PoweredOn || h.Spec.UserData == nil {
			continue
		}
		if node := "/api/v1/nodes/" + h.Metadata.Name; o.api.Do(o.t.Context(), http.MethodGet, node, nil, nil) != nil {
			o.do(http.MethodPost, "/api/v1/nodes", fields{"apiVersion": "v1", "kind": "Node", "metadata": fields{"name": h.Metadata.Name},
				"status": fields{"conditions": []fields{{"type": "Ready", "status": "True", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}}}})
		}
	}
	var pods corev1.PodList
	if err := o.api.Do(o.t.Context(), http.MethodGet, "/api/v1/pods", nil, &pods); err != nil && o.t.Context().Err() == nil {
		o.t.Error(err)
	}
	for _, p := range pods.Items {
		if h, is := hosts[p.Spec.NodeName]; is && h.Status.PoweredOn && p.DeletionTimestamp != nil {
			o.do(http.MethodDelete, "/api/v1/namespaces/"+p.Namespace+"/pods/"+p.Name, fields{"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})
		}
	}
}

// runs creates a pod that runs on a node, and is Ready.
func (o *operators) runs(name, node string, change func(*corev1.Pod)) {
	o.t.Helper()
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "apps", Labels: map[string]string{"app": name},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: "11111111-2222-3333-4444-555555555555", Controller: new(true)}}},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i:1"}}}}
	if change != nil {
		change(pod)
	}
	at := "/api/v1/namespaces/apps/pods"
	ready := fields{"status": fields{"phase": "Running", "conditions": []fields{{"type": "Ready", "status": "True"}}}}
	if err := errors.Join(o.api.Do(o.t.Context(), http.MethodPost, at, pod, nil), o.api.Do(o.t.Context(), http.MethodPatch, at+"/"+name+"/status", ready, nil)); err != nil {
		o.t.Fatal(err)
	}
}

// ended reports whether a pod is gone, or is to end.
func (o *operators) ended(name string) bool {
	var p corev1.Pod
	return o.api.Do(o.t.Context(), http.MethodGet, "/api/v1/namespaces/apps/pods/"+name, nil, &p) != nil || p.DeletionTimestamp != nil
}

// bareWorld is a real API with what render writes for a cluster of any Kubernetes, a control plane of
// three, and FAKE operators.
func bareWorld(t *testing.T) (o *operators, client func(name, way string) *barehosts.Client) {
	t.Helper()
	c, s := Local(t, Server{})
	kinds(t, s)
	control := map[string]string{controlNode: ""}
	apply(t, s, aNamespace("apps"), aNode("m0", "192.0.2.20", control), aNode("m1", "192.0.2.21", control), aNode("m2", "192.0.2.22", control),
		&corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: "apps"}})
	p, hosts := ironicCluster(t)
	applyManifests(t, s, p, hosts)
	p, hosts = ironicCluster(t, "w1") // one more, which the cluster does not know yet
	o = &operators{t: t, api: s.Admin(), r: rand.New(rand.NewPCG(1, 1)), bare: true}
	o.do(http.MethodPatch, bareIronic, fields{"status": fields{"replicas": 1, "readyReplicas": 1}})
	image, err := reads.Image(p)
	if err != nil {
		t.Fatal(err)
	}
	api := clientOf(t, c, s)
	api.Place, api.Namespace = object.AnyHosts(), ""
	return o, func(name, way string) *barehosts.Client {
		own := &barehosts.Client{Client: api, Name: name, Drains: way == "remove", Remote: p.Flavour().RemoteLabel,
			Next: func(w bare.World) (bare.Step, error) { return bare.Remove(w, false) }}
		if way == "add" {
			objects, err := metal3.HostObjects(p, metal3.Given{Hosts: hosts}, name)
			if err != nil || len(objects) != 2 {
				t.Fatalf("%d objects of %s: %v", len(objects), name, err)
			}
			own.Objects, own.Document = objects, []object.Object{metal3.UserData(name, secret.New(joins))}
			own.Next = func(w bare.World) (bare.Step, error) { return bare.Add(w, image, true) }
		}
		if way == "as a kubelet" {
			own.Drains = true
			own.Client = &machines.Client{API: kube.NewAPI(c.kubelet(t, s, name), slog.New(slog.DiscardHandler)), Place: object.AnyHosts()}
		}
		return own
	}
}

// to does all steps of a host, by programs that are ended after some time, each later than the one
// before, of which each begins anew.
func to(t *testing.T, client func() *barehosts.Client) (did []string) {
	t.Helper()
	for within := 300 * time.Millisecond; ; within *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		err := client().Run(ctx, func(text string, failed error) {
			did = append(did, text)
			// metal3 has changed the host since it was read: the API compares.
			if failed != nil && ctx.Err() == nil && !strings.Contains(failed.Error(), "the object has been modified") {
				t.Error(failed)
			}
		})
		cancel()
		if err == nil {
			return slices.Compact(did)
		}
		if !errors.Is(err, context.DeadlineExceeded) || within > 2*time.Minute {
			t.Fatalf("%v after %s: %s", err, within, strings.Join(did, "; "))
		}
	}
}

// TestBareHosts adds hosts to a cluster of any Kubernetes and removes one, through a real API, which
// judges each eviction by a PodDisruptionBudget, with FAKE operators.
func TestBareHosts(t *testing.T) {
	o, client := bareWorld(t)
	end := o.start()
	defer end()
	exists := func(path string) bool { return o.api.Do(t.Context(), http.MethodGet, path, nil, nil) == nil }

	// One that waits for the handover, and one that is not there: its description is applied first.
	for _, name := range []string{"w0", "w1"} {
		if name == "w1" {
			if err := client(name, "add").Run(t.Context(), func(text string, _ error) { t.Error(text) }); err == nil || !strings.Contains(err.Error(), "do not know host w1: render the description") {
				t.Error(err)
			}
			p, _ := ironicCluster(t, "w1")
			o.do(http.MethodPatch, "/api/v1/namespaces/"+object.HostNamespace+"/configmaps/metal3-ironic", fields{"data": fields{"cluster.json": string(plan.Encode(p))}})
		}
		did := to(t, func() *barehosts.Client { return client(name, "add") })
		t.Logf("%s came: %s", name, strings.Join(did, "; "))
		var kept corev1.Secret
		if err := o.api.Do(t.Context(), http.MethodGet, bareSecrets+"/"+name+"-user-data-secret", nil, &kept); err != nil || string(kept.Data["userData"]) != joins || strings.Contains(strings.Join(did, ""), "s3cret") {
			t.Errorf("%s: %q, %v", name, kept.Data, err)
		}
	}
	again := client("w1", "add")
	for _, document := range []string{joins, joins + "# a new token\n"} {
		again.Document = []object.Object{metal3.UserData("w1", secret.New(document))}
		if w, err := again.World(t.Context()); err != nil || w.Outdated != (document != joins) {
			t.Errorf("%q: outdated %v, %v", document, w.Outdated, err)
		}
	}
	var h struct{ Spec struct{ Image object.Image } }
	if err := o.api.Do(t.Context(), http.MethodGet, bareHostsOf+"/w1", nil, &h); err != nil || h.Spec.Image.URL != "http://172.22.0.3:6180/images/os.raw" || h.Spec.Image.Checksum != strings.Repeat("0", 64) || h.Spec.Image.Format != "raw" {
		t.Errorf("%+v, %v", h, err)
	}

	seen, err := client("w0", "").Workers(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if r := workerstate.Of(seen, time.Now()); r.Joined != 2 || len(r.Hosts) != 1 || r.Hosts[0].Name != "m0" || r.Hosts[0].Step != workerstate.Waiting {
		t.Errorf("%+v", r)
	}

	ingress := func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 80}}
	}
	o.runs("ingress-0", "w0", ingress)
	refused := func(name, way, want string) {
		t.Helper()
		err := client(name, way).Run(t.Context(), func(text string, _ error) { t.Errorf("%s: %s", name, text) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	refused("w0", "remove", "the only one with a ready pod at the ingress port")
	o.runs("ingress-1", "w1", ingress)
	o.runs("alone", "w0", func(p *corev1.Pod) { p.OwnerReferences = nil })
	refused("w0", "remove", "nothing would start them elsewhere: apps/alone")
	o.do(http.MethodDelete, "/api/v1/namespaces/apps/pods/alone", fields{"gracePeriodSeconds": 0})
	refused("m0", "remove", "a member of etcd: remove that member")
	o.do(http.MethodPatch, "/api/v1/nodes/m1/status", fields{"status": fields{"conditions": []fields{{"type": "Ready", "status": "Unknown"}}}})
	refused("m0", "remove", "a member of etcd: without it 1 of 3 are Ready, and etcd needs 2")
	o.do(http.MethodPost, "/api/v1/nodes", fields{"apiVersion": "v1", "kind": "Node", "metadata": fields{"name": "x9"}})
	refused("x9", "remove", "no host of that name")
	// A node of another name is known without being named again.
	o.do(http.MethodPatch, "/api/v1/nodes/x9/status", fields{"status": fields{"conditions": []fields{{"type": "Ready", "status": "True"}}}})
	named := client("w1", "add")
	named.Node = "x9"
	if err := named.Run(t.Context(), func(_ string, failed error) {
		if failed != nil {
			t.Error(failed)
		}
	}); err != nil {
		t.Error(err)
	}
	if w, err := client("w1", "remove").World(t.Context()); err != nil || w.Node == nil || w.Node.Name != "x9" {
		t.Errorf("%+v, %v", w.Node, err)
	}
	o.do(http.MethodPatch, bareHostsOf+"/w1", fields{"spec": fields{"consumerRef": fields{"kind": "Metal3Machine", "name": "z"}}})
	refused("w1", "remove", "belongs to Metal3Machine z")
	refused("w0", "as a kubelet", "forbidden")

	drains(t, o, client)
	end()
	if !slices.Equal(o.wiped, []string{"w0"}) {
		t.Errorf("wiped: %v", o.wiped)
	}
	for name, want := range map[string]bool{"w0": false, "w1": true} {
		for _, path := range []string{"/api/v1/nodes/" + name, bareHostsOf + "/" + name, bareSecrets + "/" + name + "-bmc-secret", bareSecrets + "/" + name + "-user-data-secret"} {
			if exists(path) != want {
				t.Errorf("%s: %v, want %v", path, !want, want)
			}
		}
	}
}

// drains removes a host whose node has pods of each kind.
func drains(t *testing.T, o *operators, client func(name, way string) *barehosts.Client) {
	t.Helper()
	o.runs("web", "w0", nil)
	o.runs("db", "w0", nil)
	o.runs("agent", "w0", func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" })
	o.runs("static", "w0", func(p *corev1.Pod) {
		p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
		p.OwnerReferences = nil
	})
	budgets := "/apis/policy/v1/namespaces/apps/poddisruptionbudgets"
	o.do(http.MethodPost, budgets, fields{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": fields{"name": "keep-db"},
		"spec": fields{"minAvailable": 1, "selector": fields{"matchLabels": fields{"app": "db"}}}})
	// What the controller of budgets would have computed.
	allow := func(n int) {
		o.do(http.MethodPatch, budgets+"/keep-db/status", fields{"status": fields{"observedGeneration": 1, "disruptionsAllowed": n, "currentHealthy": 1 + n, "desiredHealthy": 1, "expectedPods": 1 + n}})
	}
	allow(0)
	wiped := make(chan string, 1)
	o.before = func(name string) {
		var n corev1.Node
		if err := o.api.Do(t.Context(), http.MethodGet, "/api/v1/nodes/"+name, nil, &n); err != nil || !n.Spec.Unschedulable || !o.ended("db") || !o.ended("web") {
			wiped <- fmt.Sprintf("%s is wiped before it is drained: %v", name, err)
			return
		}
		wiped <- ""
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var did []string
	err := client("w0", "remove").Run(ctx, func(text string, failed error) {
		if did = append(did, text); strings.Contains(text, "may not leave") {
			stop() // the budget allows none: another program goes on when it does
		}
		if failed != nil && ctx.Err() == nil {
			t.Error(failed)
		}
	})
	if last := did[len(did)-1]; !errors.Is(err, context.Canceled) || !strings.Contains(last, "apps/db (The disruption budget keep-db needs 1 healthy pods and has 1 currently)") || o.ended("db") || !o.ended("web") {
		t.Fatalf("%v: %s", err, strings.Join(did, "; "))
	}
	go func() { time.Sleep(2 * time.Second); allow(1) }()
	did = to(t, func() *barehosts.Client { return client("w0", "remove") })
	t.Logf("w0 left: %s", strings.Join(did, "; "))
	if why := <-wiped; why != "" {
		t.Error(why)
	}
	if o.ended("agent") || o.ended("static") {
		t.Error("pods that stay were evicted")
	}
}

// TestBareRelease has hosts of any Kubernetes wait for a bootstrap machine whose namespace a
// description has chosen, and for their own Ironic; those of the control plane are released too.
func TestBareRelease(t *testing.T) {
	o, client := bareWorld(t)
	apply(t, &Server{client: o.api}, aNamespace("chosen"))
	o.do(http.MethodPatch, bareIronic, fields{"status": fields{"readyReplicas": 0}})
	published := "/api/v1/namespaces/chosen/configmaps"
	o.do(http.MethodPost, published, fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": "onprem-infra-bootstrap"}, "data": fields{"addresses": `["192.0.2.10"]`, "beat": "1"}})
	if p, err := machines.Find(t.Context(), client("w0", "").API, ""); err != nil || p != object.AnyHosts() {
		t.Fatalf("%+v, %v", p, err)
	}
	api := client("w0", "").Client
	steps := []string{"the bootstrap machine to end", "(the Deployment metal3-ironic)", "with 2 hosts: m0, w0"}
	for i, want := range steps {
		f, err := api.Fleet(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := scale.Release(f).Text(); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		switch i {
		case 0:
			o.do(http.MethodPatch, published+"/onprem-infra-bootstrap", fields{"data": fields{"addresses": "[]", "beat": "2"}})
		case 1:
			o.do(http.MethodPatch, bareIronic, fields{"status": fields{"readyReplicas": 1}})
		}
	}
}
