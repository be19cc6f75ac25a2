package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/fakemetal3"
)

type fields = map[string]any

// kinds are the types that OpenShift's operators bring to the API. Only that of hosts has the schema
// of its operator: those of the others accept everything.
func kinds(t *testing.T, s *Server) {
	t.Helper()
	openShift := func(kind string) fakemetal3.Kind {
		return fakemetal3.Kind{Group: "machine.openshift.io", Version: "v1beta1", Kind: kind}
	}
	operator := fakemetal3.Kind{Group: "metal3.io", Version: "v1alpha1", Kind: "Provisioning", Cluster: true}
	if err := fakemetal3.Publish(t.Context(), s.Admin()); err != nil {
		t.Fatal(err)
	}
	if err := fakemetal3.Define(t.Context(), s.Admin(), operator, openShift("Machine"), openShift("MachineSet")); err != nil {
		t.Fatal(err)
	}
}

// operators are FAKE: one program that does to the API what baremetal-operator, the controllers of
// Machines and a kubelet do. A free Machine takes any host that is available, as OpenShift's does.
type operators struct {
	t     *testing.T
	api   *Client
	r     *rand.Rand
	n     int
	wiped []string
	// bare, they are those of any Kubernetes: metal3's operator, the kubelets of its hosts, and
	// what makes a Node Unknown of which the kubelet is gone. There are no Machines.
	bare bool
	// before is called when a host is about to be wiped.
	before func(host string)
}

// at is where the hosts are.
func (o *operators) at() string {
	if o.bare {
		return bareHostsOf
	}
	return hostsOf
}

const (
	hostsOf    = "/apis/metal3.io/v1alpha1/namespaces/" + object.MachineNamespace + "/baremetalhosts"
	machinesOf = "/apis/machine.openshift.io/v1beta1/namespaces/" + object.MachineNamespace + "/machines"
	setsOf     = "/apis/machine.openshift.io/v1beta1/namespaces/" + object.MachineNamespace + "/machinesets"
	taken      = "metal3.io/BareMetalHost"
)

type object3 struct {
	Metadata metav1.ObjectMeta
	Spec     struct {
		Online, ExternallyProvisioned bool
		ConsumerRef                   *struct{ Name string }
		Image, UserData               *struct{ URL, Name string }
		Replicas                      int
	}
	Status struct {
		PoweredOn    bool
		Provisioning struct{ State string }
		NodeRef      struct{ Name string }
	}
}

func (o *operators) list(path string) []object3 {
	var all struct{ Items []object3 }
	if err := o.api.Do(o.t.Context(), http.MethodGet, path, nil, &all); err != nil && o.t.Context().Err() == nil {
		o.t.Error(err)
	}
	return all.Items
}

// get reads an object; one that is not there leaves out as it is.
func (o *operators) get(path string, out any) {
	var refused Refusal
	if err := o.api.Do(o.t.Context(), http.MethodGet, path, nil, out); err != nil && !(errors.As(err, &refused) && refused.Code == http.StatusNotFound) {
		o.t.Error(err)
	}
}

// do changes an object; one that has gone meanwhile is none of its concern.
func (o *operators) do(method, path string, body fields) {
	var refused Refusal
	if err := o.api.Do(o.t.Context(), method, path, body, nil); err != nil && o.t.Context().Err() == nil &&
		!(errors.As(err, &refused) && refused.Code == http.StatusNotFound) {
		o.t.Error(err)
	}
}

// state has a host go to a state, with the times that baremetal-operator notes.
func (o *operators) state(h object3, state string, on bool) {
	status := fakemetal3.Transition(h.Status.Provisioning.State, state, on, time.Now())
	o.do(http.MethodPatch, o.at()+"/"+h.Metadata.Name+"/status", fields{"status": status})
}

// run goes on until the test ends.
func (o *operators) run(ctx context.Context) {
	for ctx.Err() == nil {
		if o.hosts(); o.bare {
			o.kubelets()
		} else {
			o.sets()
			o.machines()
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// hosts is what baremetal-operator does.
func (o *operators) hosts() {
	for _, h := range o.list(o.at()) {
		name := h.Metadata.Name
		if _, paused := h.Metadata.Annotations[object.Paused]; paused || h.Spec.ExternallyProvisioned {
			continue
		}
		switch state, owned := h.Status.Provisioning.State, h.Spec.ConsumerRef != nil || h.Spec.Image != nil; {
		case state == "":
			o.state(h, "registering", false)
		case state == "registering":
			o.state(h, "inspecting", true)
		case state == "inspecting":
			o.state(h, "available", h.Spec.Online)
		case state == "available" && owned:
			o.state(h, "provisioning", true)
		case state == "provisioning":
			o.state(h, "provisioned", true)
		case state == "provisioned" && !owned:
			o.state(h, "deprovisioning", true)
		case state == "deprovisioning":
			if o.before != nil {
				o.before(name)
			}
			o.wiped = append(o.wiped, name)
			o.state(h, "available", h.Spec.Online)
		case h.Status.PoweredOn != h.Spec.Online:
			o.state(h, state, h.Spec.Online)
		}
	}
}

// sets is what the controller of MachineSets does. Unmarked, any of the Machines goes.
func (o *operators) sets() {
	all := o.list(machinesOf)
	for _, s := range o.list(setsOf) {
		live := slices.DeleteFunc(slices.Clone(all), func(m object3) bool {
			return m.Metadata.DeletionTimestamp != nil || len(m.Metadata.OwnerReferences) == 0 || m.Metadata.OwnerReferences[0].Name != s.Metadata.Name
		})
		switch {
		case len(live) < s.Spec.Replicas:
			o.n++
			o.do(http.MethodPost, machinesOf, fields{"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine", "metadata": fields{
				"name": fmt.Sprintf("%s-%d", s.Metadata.Name, o.n), "finalizers": []string{"fake.example.com/drain"},
				"ownerReferences": []fields{{"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet", "name": s.Metadata.Name, "uid": s.Metadata.UID}}}})
		case len(live) > s.Spec.Replicas:
			i := slices.IndexFunc(live, func(m object3) bool { _, marked := m.Metadata.Annotations[scale.DeleteFirst]; return marked })
			if i < 0 {
				i = o.r.IntN(len(live))
			}
			o.do(http.MethodDelete, machinesOf+"/"+live[i].Metadata.Name, nil)
		}
	}
}

// machines is what the controller of Machines does, and the kubelet of each.
func (o *operators) machines() {
	for _, m := range o.list(machinesOf) {
		name := m.Metadata.Name
		_, host, has := strings.Cut(m.Metadata.Annotations[taken], "/")
		hosts := o.list(hostsOf)
		own := slices.IndexFunc(hosts, func(h object3) bool { return h.Metadata.Name == host })
		switch {
		case m.Metadata.DeletionTimestamp != nil && own >= 0 && hosts[own].Spec.ConsumerRef != nil:
			o.do(http.MethodPatch, hostsOf+"/"+host, fields{"spec": fields{"consumerRef": nil, "online": false}})
		case m.Metadata.DeletionTimestamp != nil && own >= 0 && hosts[own].Status.Provisioning.State != "available":
		case m.Metadata.DeletionTimestamp != nil:
			if m.Status.NodeRef.Name != "" {
				o.do(http.MethodDelete, "/api/v1/nodes/"+m.Status.NodeRef.Name, nil)
			}
			o.do(http.MethodPatch, machinesOf+"/"+name, fields{"metadata": fields{"finalizers": nil}})
		case !has:
			free := slices.DeleteFunc(hosts, func(h object3) bool {
				return h.Status.Provisioning.State != "available" || h.Spec.ConsumerRef != nil || h.Spec.ExternallyProvisioned
			})
			if len(free) == 0 {
				continue
			}
			host := free[o.r.IntN(len(free))].Metadata.Name
			o.do(http.MethodPatch, hostsOf+"/"+host, fields{"spec": fields{"online": true, "consumerRef": fields{"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine", "name": name, "namespace": object.MachineNamespace}}})
			o.do(http.MethodPatch, machinesOf+"/"+name, fields{"metadata": fields{"annotations": fields{taken: object.MachineNamespace + "/" + host}}})
		case own >= 0 && hosts[own].Status.Provisioning.State == "provisioned" && m.Status.NodeRef.Name == "":
			o.do(http.MethodPost, "/api/v1/nodes", fields{"apiVersion": "v1", "kind": "Node", "metadata": fields{"name": host},
				"status": fields{"conditions": []fields{{"type": "Ready", "status": "True", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}}}})
			o.do(http.MethodPatch, machinesOf+"/"+name, fields{"status": fields{"nodeRef": fields{"name": host}}})
		}
	}
}

// workers is a description with so many workers.
func workers(t *testing.T, n int) (plan.Plan, []spec.Host) {
	t.Helper()
	text := `apiVersion: v1
baseDomain: example.com
metadata: {name: prod}
controlPlane: {replicas: 3}
compute: [{name: worker, replicas: 2}]
networking: {machineNetwork: [{cidr: 192.0.2.0/24}]}
platform:
  baremetal:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
    hosts:
    - {name: master-0, role: master, bootMACAddress: '52:54:00:00:01:00', bmc: {address: 'ipmi://192.0.2.100', username: admin, password: p4ss}}
`
	for i := range n {
		text += fmt.Sprintf("    - {name: w%d, role: worker, bootMACAddress: '52:54:00:00:00:%02x', bmc: {address: 'ipmi://192.0.2.%d', username: admin, password: p4ss}}\n", i, i+1, 110+i)
	}
	c, findings := spec.Parse("install-config.yaml", []byte(text+"pullSecret: x\n"), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p, c.Hosts
}

// clientOf is the product's, of an administrator.
func clientOf(t *testing.T, c *Cluster, s *Server) *machines.Client {
	t.Helper()
	id, err := c.Sign(Admin())
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, c.Kubeconfig(s.URL(), id), 0o600); err != nil {
		t.Fatal(err)
	}
	return &machines.Client{API: kube.NewAPI(kubeconfig, slog.New(slog.DiscardHandler)), ControlPlane: label, Namespace: ours}
}

// start has the operators run until the returned function is called.
func (o *operators) start() (end func()) {
	ctx, stop := context.WithCancel(o.t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); o.run(ctx) }()
	return func() { stop(); <-ended }
}

// TestScale adds hosts to a cluster and removes them again, through a real API, with FAKE operators.
// Whatever does the steps is ended again and again, and begins anew.
func TestScale(t *testing.T) {
	c, s := Local(t, Server{})
	kinds(t, s)
	apply(t, s, aNamespace(object.MachineNamespace), aNamespace(health.RouterNamespace),
		aNode("master-0", "192.0.2.20", map[string]string{label: ""}), aNode("master-1", "192.0.2.21", map[string]string{label: ""}), aNode("master-2", "192.0.2.22", map[string]string{label: ""}))
	o := &operators{t: t, api: s.Admin(), r: rand.New(rand.NewPCG(1, 1))}
	o.do(http.MethodPost, setsOf, fields{"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet", "metadata": fields{"name": "prod-worker"}, "spec": fields{"replicas": 0}})
	end := o.start()
	defer end()
	client := clientOf(t, c, s)
	p, hosts := workers(t, 4)
	objects := func(name string) []object.Object {
		all, err := metal3.HostObjects(p, metal3.Given{Hosts: hosts}, name)
		if err != nil || len(all) != 2 {
			t.Fatalf("%d objects of %s: %v", len(all), name, err)
		}
		return all
	}
	begin := time.Now()
	// to does all steps, by programs that are ended after some time, each later than the one before.
	to := func(name string, next scale.Next, create []object.Object) (did []string) {
		t.Helper()
		for within := 300 * time.Millisecond; ; within *= 2 {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			err := client.Run(ctx, name, next, create, func(s scale.Step, failed error) {
				if did = append(did, s.Text(name)); failed != nil && ctx.Err() == nil {
					t.Errorf("%s: %v", name, failed)
				}
			})
			cancel()
			if err == nil {
				return did
			}
			if !errors.Is(err, context.DeadlineExceeded) || within > 2*time.Minute {
				t.Fatalf("%s: %v after %s: %s", name, err, within, strings.Join(did, "; "))
			}
		}
	}
	add := func(w scale.World) (scale.Step, error) { return scale.Add(w, "") }
	for _, name := range []string{"w0", "w1", "w2"} {
		did := to(name, add, objects(name))
		t.Logf("%s came after %s: %s", name, time.Since(begin).Round(time.Second), strings.Join(did, "; "))
	}
	if w, err := client.World(t.Context(), "w1"); err != nil || w.Sets[0].Replicas != 3 || w.Sets[0].Live != 3 || w.Machine == nil || w.Machine.Node != "w1" {
		t.Errorf("%+v, %v", w, err)
	}
	apply(t, s, routersOn("w1"))
	if err := client.Run(t.Context(), "w1", scale.Remove, nil, func(s scale.Step, _ error) { t.Errorf("the last router's node: %+v", s) }); err == nil || !strings.Contains(err.Error(), "the only one with a ready ingress router") {
		t.Errorf("the last router's node: %v", err)
	}
	did := to("w2", scale.Remove, nil)
	t.Logf("w2 left after %s: %s", time.Since(begin).Round(time.Second), strings.Join(did, "; "))
	may := machines.Client{API: kube.NewAPI(c.kubelet(t, s, "w0"), slog.New(slog.DiscardHandler)), ControlPlane: label, Namespace: ours}
	if err := may.Run(t.Context(), "w0", scale.Remove, nil, func(scale.Step, error) {}); err == nil || !strings.Contains(err.Error(), "forbidden") || !errors.As(err, new(kube.Refused)) {
		t.Errorf("without a right: %v", err)
	}
	end()
	if !slices.Equal(o.wiped, []string{"w2"}) {
		t.Errorf("wiped: %v", o.wiped)
	}
	for name, want := range map[string]bool{"w0": true, "w1": true, "w2": false, "w3": false} {
		var n corev1.Node
		node := s.Admin().Do(t.Context(), http.MethodGet, "/api/v1/nodes/"+name, nil, &n) == nil
		secret := s.Admin().Do(t.Context(), http.MethodGet, "/api/v1/namespaces/"+object.MachineNamespace+"/secrets/"+name+"-bmc-secret", nil, nil) == nil
		host := s.Admin().Do(t.Context(), http.MethodGet, hostsOf+"/"+name, nil, nil) == nil
		if node != want || secret != want || host != want {
			t.Errorf("%s: node %v, Secret %v, host %v; want %v", name, node, secret, host, want)
		}
	}
	if w, err := client.World(t.Context(), "w2"); err != nil || w.Sets[0].Replicas != 2 || w.Sets[0].Live != 2 {
		t.Errorf("%+v, %v", w, err)
	}
}

// TestRelease has sixty hosts wait for the handover: none begins while the bootstrap machine
// provisions or the cluster's Ironic is not ready, and then no more than a batch at once.
func TestRelease(t *testing.T) {
	const all = 60
	c, s := Local(t, Server{})
	kinds(t, s)
	apply(t, s, aNamespace(object.MachineNamespace), aNamespace(ours))
	p, hosts := workers(t, all)
	objects, err := metal3.Objects(p, metal3.Given{Hosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	o := &operators{t: t, api: s.Admin(), r: rand.New(rand.NewPCG(1, 1))}
	for _, one := range objects {
		if h, ok := one.(object.BareMetalHost); ok {
			o.do(http.MethodPost, hostsOf, fields{"apiVersion": h.APIVersion, "kind": h.Kind, "metadata": fields{"name": h.Metadata.Name, "annotations": h.Metadata.Annotations},
				"spec": fields{"online": h.Spec.Online, "externallyProvisioned": h.Spec.ExternallyProvisioned}})
		}
	}
	// begun are the hosts that were let go, and of these those that have not been inspected.
	begun := func() (n, busy int) {
		for _, h := range o.list(hostsOf) {
			if _, paused := h.Metadata.Annotations[object.Paused]; paused || h.Spec.ExternallyProvisioned {
				continue
			}
			if n++; h.Status.Provisioning.State != "available" {
				busy++
			}
		}
		return n, busy
	}
	notices := "/api/v1/namespaces/" + ours + "/configmaps"
	here := notice.EncodeBootstrap([]netip.Addr{netip.MustParseAddr("192.0.2.10")}, 1)
	o.do(http.MethodPost, notices, fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": notice.Bootstrap}, "data": here})
	client := clientOf(t, c, s)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	rounds, done := make(chan scale.Round, 100), make(chan error, 1)
	go func() {
		done <- client.Release(ctx, func(round scale.Round, failed error) {
			if failed != nil {
				t.Error(failed)
			}
			rounds <- round
		})
	}()
	next := func(want string) {
		t.Helper()
		select {
		case round := <-rounds:
			if !strings.Contains(round.Text(), want) {
				t.Errorf("%s, want %s", round.Text(), want)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("nothing, want %s", want)
		}
	}
	next("the bootstrap machine to end")
	o.do(http.MethodPatch, notices+"/"+notice.Bootstrap, fields{"data": notice.EncodeBootstrap(nil, 2)})
	next("own Ironic to be ready")
	if n, _ := begun(); n != 0 {
		t.Errorf("%d hosts have begun", n)
	}
	labels := fields{"app": "metal3"}
	o.do(http.MethodPost, "/apis/apps/v1/namespaces/"+object.MachineNamespace+"/deployments", fields{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": fields{"name": "metal3"},
		"spec": fields{"selector": fields{"matchLabels": labels}, "template": fields{"metadata": fields{"labels": labels}, "spec": fields{"containers": []fields{{"name": "i", "image": "i"}}}}}})
	o.do(http.MethodPatch, "/apis/apps/v1/namespaces/"+object.MachineNamespace+"/deployments/metal3/status", fields{"status": fields{"replicas": 1, "readyReplicas": 1}})
	next(fmt.Sprintf("with %d hosts", scale.Batch))
	next(fmt.Sprintf("%d hosts to be inspected", scale.Batch))
	if n, busy := begun(); n != scale.Batch || busy != scale.Batch {
		t.Errorf("%d hosts have begun, %d are not inspected", n, busy)
	}
	end := o.start()
	defer end()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n, _ := begun(); n != all {
		t.Errorf("%d hosts have begun", n)
	}
}
