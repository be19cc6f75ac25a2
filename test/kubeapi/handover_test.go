package kubeapi

import (
	"context"
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

	"sigs.k8s.io/yaml"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision"
	"github.com/onprem-infra/onprem-infra/bootstrap/provision/handover"
	"github.com/onprem-infra/onprem-infra/bootstrap/provision/machine"
	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/handedover"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	hostledger "github.com/onprem-infra/onprem-infra/shared/host/ledger"
	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	kept "github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// bootMachine is a FAKE bootstrap machine whose parts follow their orders at once. Its phase machine, its
// journal and what it does to the cluster are the product's.
type bootMachine struct {
	t        *testing.T
	room     *provision.Room
	options  provision.Options
	orders   orders.Orders
	reversal orders.Reversal
	shown    progress.Progress
}

func (b *bootMachine) Orders() (orders.Orders, error)                              { return b.orders, nil }
func (b *bootMachine) WriteOrders(o orders.Orders) error                           { b.orders = o; return nil }
func (b *bootMachine) Reversal() (orders.Reversal, error)                          { return b.reversal, nil }
func (b *bootMachine) Acceptances() ([]orders.Acceptance, error)                   { return nil, nil }
func (b *bootMachine) Foreign() (foreign.List, error)                              { return foreign.List{}, nil }
func (b *bootMachine) Show(p progress.Progress) error                              { b.shown = p; return nil }
func (b *bootMachine) Note(...kept.Event) error                                    { return nil }
func (b *bootMachine) Image() (node.Image, error)                                  { return node.Image{}, nil }
func (b *bootMachine) Secrets() (hostfile.File, string, error)                     { return hostfile.File{}, "1", nil }
func (b *bootMachine) Rewrite(string) (orders.Rewrite, error)                      { return orders.Rewrite{}, nil }
func (b *bootMachine) Traces() (map[string]machine.Trace, error)                   { return nil, nil }
func (b *bootMachine) Run(context.Context, []string) (blocking, warnings []string) { return nil, nil }
func (b *bootMachine) Ready() error                                                { return nil }
func (b *bootMachine) Status(string) error                                         { return nil }

func (b *bootMachine) Report(p orders.Part) (orders.Report, error) {
	return orders.Report{Part: p, Generation: b.orders.Generation, On: b.orders.Wants(p), Ready: true, At: time.Now()}, nil
}

// ironicOff is the machine's own Ironic, a FAKE: its host has joined.
type ironicOff struct{}

func (ironicOff) Drivers(context.Context) ([]string, error) { return []string{"ipmi"}, nil }
func (ironicOff) Nodes(context.Context) ([]node.Node, error) {
	return []node.Node{{UUID: "u", Name: "master-0", State: node.Active}}, nil
}
func (ironicOff) Disks(context.Context, string) (disks node.Disks, err error) { return nil, nil }
func (ironicOff) Do(context.Context, node.Request) error                      { return nil }

// until runs the phase machine, which starts anew now and then, until something is so.
func (b *bootMachine) until(what string, done func() bool) {
	b.t.Helper()
	for deadline, n := time.Now().Add(time.Minute), 0; ; n++ {
		if b.room == nil || n%7 == 6 {
			b.room = provision.New(b.options)
		}
		s, err := b.room.Observe(b.t.Context())
		if err != nil {
			b.t.Fatal(err)
		}
		d, _ := b.room.Decide(s)
		if err := b.room.Publish(b.t.Context(), d); err != nil {
			b.t.Fatal(err)
		}
		_ = b.room.Apply(b.t.Context(), d) // what fails is shown, and done again
		b.room.CheckDue(b.t.Context())
		if done() {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("not %s: %+v", what, b.shown)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (b *bootMachine) at(p progress.Phase) {
	b.t.Helper()
	b.until(string(p), func() bool { return b.memory().Phase == p })
}

// waits runs until a phase waits for something.
func (b *bootMachine) waits(p progress.Phase, text string) {
	b.t.Helper()
	b.until(text, func() bool { return b.shown.Phase == p && strings.HasPrefix(b.shown.Waits, text) })
}

func (b *bootMachine) memory() ledger.Memory {
	b.t.Helper()
	all, err := b.options.Journal.Read()
	if err != nil {
		b.t.Fatal(err)
	}
	return ledger.Fold(all)
}

// reverse is a person.
func (b *bootMachine) reverse(back bool) {
	b.reversal = orders.Reversal{Back: back, Of: b.memory().HandoverSince, At: time.Now(), Why: "a person asked for it"}
}

// TestHandover runs the phases of the handover against a real API, with FAKE operators: what the bootstrap
// machine publishes is there, OpenShift's operator is paused until all parts are off, hosts begin in batches,
// and provisioning is taken back before the first of them, and not after it.
func TestHandover(t *testing.T) {
	const all = 60
	c, s := Local(t, Server{})
	kinds(t, s)
	apply(t, s, aNamespace(object.MachineNamespace))
	p, hosts := workers(t, all)
	objects, err := metal3.Objects(p, metal3.Given{Hosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	o := &operators{t: t, api: s.Admin(), r: rand.New(rand.NewPCG(1, 1))}
	const provisionings = "/apis/metal3.io/v1alpha1/provisionings"
	for _, one := range objects {
		var whole fields
		if err := yaml.Unmarshal(object.Encode(one), &whole); err != nil {
			t.Fatal(err)
		}
		switch one.(type) {
		case object.Provisioning:
			o.do(http.MethodPost, provisionings, whole)
		case object.BareMetalHost:
			o.do(http.MethodPost, hostsOf, whole)
		}
	}
	defer o.start()()
	paused := func() string {
		var is object3
		o.get(provisionings+"/"+object.Operator, &is)
		return is.Metadata.Annotations[object.OperatorPaused]
	}
	published := func() notice.Progress {
		var is struct{ Data map[string]string }
		o.get("/api/v1/namespaces/"+ours+"/configmaps/"+notice.Handover, &is)
		return notice.ReadHandover(is.Data)
	}
	begun := func() (n int) {
		for _, h := range o.list(hostsOf) {
			if _, waits := h.Metadata.Annotations[object.Paused]; !waits && !h.Spec.ExternallyProvisioned {
				n++
			}
		}
		return n
	}

	// The kubeconfig is for an API server that is gone: another one of the cluster answers.
	id, err := c.Sign(Admin())
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, c.Kubeconfig("https://127.0.0.1:1", id), 0o600); err != nil {
		t.Fatal(err)
	}
	api := kube.NewAPI(kubeconfig, slog.New(slog.DiscardHandler)).OrAt(func() []netip.AddrPort { return []netip.AddrPort{s.Address} })
	journal := hostledger.File(filepath.Join(t.TempDir(), "journal.jsonl"))
	begin := time.Now().Add(-time.Minute)
	entries := []ledger.Entry{{Time: begin, Kind: ledger.Started}}
	for _, h := range p.Provisioning.Deployed() {
		entries = append(entries, ledger.Entry{Time: begin, Kind: ledger.Joined, Host: h.Name})
	}
	if err := journal.Append(append(entries, ledger.Entry{Time: begin, Kind: ledger.Phase, Phase: progress.Settle})...); err != nil {
		t.Fatal(err)
	}
	b := &bootMachine{t: t}
	own := handover.Cluster{Metal3: true, Operator: true, Returns: true}
	for _, h := range p.Provisioning.Hosts[1:] {
		own.Hosts = append(own.Hosts, h.Name)
	}
	b.options = provision.Options{Settings: provision.Settings{Plan: p.Provisioning, Name: "boot", Own: own}, Host: b, Ironic: ironicOff{}, Journal: journal, Preflight: b, Notifier: b,
		Cluster: handedover.New(handedover.Options{API: api, Client: machines.Client{ControlPlane: label, Namespace: ours}}),
		Joined:  func() ([]addr.Candidate, bool) { return nil, true }, Now: time.Now, Wake: make(chan struct{}, 1)}

	// Our namespace is not there yet: DHCP stays on.
	b.waits(progress.Announce, `the cluster's API to have the ConfigMap onprem-infra-provisioning-handover: put ConfigMap`)
	if !b.orders.Wants(orders.DHCP) || !strings.Contains(b.shown.Waits, "not found") {
		t.Errorf("%+v, %q", b.orders, b.shown.Waits)
	}
	apply(t, s, aNamespace(ours))
	for _, phase := range []progress.Phase{progress.DHCPOff, progress.IronicOff, progress.AddrOff, progress.Unpause} {
		b.at(phase)
		if paused() != object.UntilHandover {
			t.Fatalf("the operator goes on in the phase %s", phase)
		}
	}
	b.waits(progress.Takeover, "the cluster's own Ironic to be ready (the Deployment metal3)")
	if got := published(); paused() != "" || got.Phase != "takeover" || got.Machine != "boot" {
		t.Errorf("paused %q, published %+v", paused(), got)
	}
	// A node's own credentials may neither read nor write it.
	worker := (&machines.Client{API: kube.NewAPI(c.kubelet(t, s, "w0"), slog.New(slog.DiscardHandler)), Namespace: ours})
	if _, err := worker.Handover(t.Context()); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("a worker reads it: %v", err)
	}

	// The operator starts Ironic, which is not ready. Provisioning is taken back once it is stopped.
	const deployments = "/apis/apps/v1/namespaces/" + object.MachineNamespace + "/deployments"
	deployed := func() {
		labels := fields{"app": "metal3"}
		o.do(http.MethodPost, deployments, fields{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": fields{"name": "metal3"},
			"spec": fields{"selector": fields{"matchLabels": labels}, "template": fields{"metadata": fields{"labels": labels}, "spec": fields{"containers": []fields{{"name": "i", "image": "i"}}}}}})
	}
	deployed()
	b.reverse(true)
	refused := func(why string) {
		t.Helper()
		b.until("refused: "+why, func() bool { return strings.Contains(strings.Join(b.shown.Warnings, ""), why) })
		if b.memory().Phase != progress.Takeover || len(b.orders.On) > 0 {
			t.Fatalf("%s, %+v", b.memory().Phase, b.orders)
		}
	}
	refused("the cluster's own Ironic runs: stop it by")
	// The Deployment is deleted, and what it has made is not. Then the pod is ended, on a node that does
	// not answer any more. No Deployment counts it.
	const pods, pod = "/api/v1/namespaces/" + object.MachineNamespace + "/pods", "metal3-5d4f-x7k2p"
	o.do(http.MethodPost, "/api/v1/namespaces/"+object.MachineNamespace+"/serviceaccounts", fields{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": fields{"name": "default"}})
	o.do(http.MethodPost, pods, fields{"apiVersion": "v1", "kind": "Pod", "metadata": fields{"name": pod, "labels": fields{"app": "metal3", "pod-template-hash": "5d4f"},
		"ownerReferences": []fields{{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "metal3-5d4f", "uid": "6d0a8a5e-0d5c-4a6c-9a07-1d1f6a3f0001"}}},
		"spec": fields{"nodeName": "m1", "containers": []fields{{"name": "i", "image": "i"}}}})
	o.do(http.MethodDelete, deployments+"/metal3", nil)
	refused("the cluster's own Ironic runs in the pod " + pod + ", without its Deployment: stop it by 'kubectl --namespace openshift-machine-api delete replicaset metal3-5d4f'")
	o.do(http.MethodDelete, pods+"/"+pod, nil)
	refused("has not seen the end of the cluster's own Ironic on m1, which may run on there: if that node does not come back, switch it off and run 'kubectl --namespace openshift-machine-api delete pod " + pod)
	o.do(http.MethodDelete, pods+"/"+pod, fields{"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})
	b.waits(progress.Deploy, "a person to run 'onprem-infra hosts hand-over'")
	if paused() != object.UntilHandover || !b.orders.Wants(orders.DHCP) {
		t.Errorf("paused %q, %+v", paused(), b.orders)
	}
	// Whatever releases hosts sees that this machine provisions, though nothing else of it is there.
	if f, err := clientOf(t, c, s).Fleet(t.Context()); err != nil || scale.Release(f).Waits != "the bootstrap machine to end, or to report nothing for 2 minutes" {
		t.Errorf("%+v, %v", scale.Release(f), err)
	}

	b.reverse(false)
	b.at(progress.Takeover)
	deployed()
	o.do(http.MethodPatch, deployments+"/metal3/status", fields{"status": fields{"replicas": 1, "readyReplicas": 1, "availableReplicas": 1}})
	if n := begun(); n != 0 {
		t.Errorf("%d hosts have begun", n)
	}
	b.until("the first batch", func() bool { return begun() > 0 })
	if n := begun(); n != scale.Batch {
		t.Errorf("%d hosts have begun, want %d", n, scale.Batch)
	}
	b.reverse(true)
	b.until("refused for good", func() bool {
		return slices.ContainsFunc(b.shown.Warnings, func(w string) bool {
			return strings.HasPrefix(w, "provisioning is not taken back: this machine has let hosts of the cluster begin at ")
		}) ||
			b.shown.Phase == progress.Ended
	})
	b.at(progress.Ended)
	b.until("published", func() bool { return published().Phase == "ended" })
	if n := begun(); n != all || paused() != "" {
		t.Errorf("%d hosts have begun, paused %q", n, paused())
	}
	kinds := map[ledger.Kind]int{}
	read, err := journal.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range read {
		kinds[e.Kind]++
	}
	if kinds[ledger.Back] != 1 || kinds[ledger.Again] != 1 || kinds[ledger.Released] < 2 {
		t.Errorf("%v", kinds)
	}
}
