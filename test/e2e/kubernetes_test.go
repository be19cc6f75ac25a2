package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
	"github.com/onprem-infra/onprem-infra/test/kubenode"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

// clusterOf is a cluster of a topology.
func clusterOf(topology spec.Topology, controlPlane int) []byte {
	return fmt.Appendf(nil, `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  baseDomain: example.com
  platform: baremetal
  timing: compat
  topology: %s
  controlPlaneReplicas: %d
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
`, topology, controlPlane)
}

// kubernetes is a cluster whose API server runs on the master's host, and whose nodes boot one by
// one.
type kubernetes struct {
	chain  *chain.Chain
	api    *kubeapi.Cluster
	server *kubeapi.Server
	hosts  map[string]*lab.Host
	images map[string]kubenode.Image
	root   string
}

var nodeIPs = map[string]netip.Addr{
	"master": netip.MustParseAddr("192.0.2.31"), "worker": netip.MustParseAddr("192.0.2.32"), "arbiter": netip.MustParseAddr("192.0.2.33"),
	"second": netip.MustParseAddr("192.0.2.34"),
}

// newKubernetes is the cluster with its API up and no node.
func newKubernetes(ctx context.Context, t *testing.T) *kubernetes {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	must(t, kubenode.Programs(ctx), kubeapi.Programs(ctx))
	c, err := chain.New(ctx, log)
	must(t, err)
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	must(t, c.Build(ctx))
	k := &kubernetes{chain: c, images: map[string]kubenode.Image{}, hosts: map[string]*lab.Host{}}
	trees, err := c.NodeImages(ctx, need.Command(t, "keepalived"), need.Command(t, "haproxy"))
	must(t, err)
	for name, tree := range trees {
		k.images[name] = kubenode.Image{Tree: tree}
	}
	k.root, err = vm.Root(ctx, log)
	must(t, err)
	for _, role := range []string{"master", "worker", "arbiter"} {
		k.hosts[role], err = c.Host("node-"+role, nodeIPs[role])
		must(t, err)
		must(t, k.hosts[role].Route(chain.NeighbourIP))
	}
	dir := t.TempDir()
	k.api, err = kubeapi.Open(ctx, kubeapi.Config{Dir: dir, Etcd: c.Neighbour, Address: chain.NeighbourIP,
		Names: []string{"api." + chain.Zone, "api-int." + chain.Zone}, Addresses: []netip.Addr{chain.APIVIP}})
	must(t, err)
	t.Cleanup(func() {
		if err := k.api.Close(); err != nil {
			t.Errorf("close the API: %v", err)
		}
	})
	k.server, err = k.api.Add(kubeapi.Server{Name: "master", Place: k.hosts["master"], Address: netip.AddrPortFrom(nodeIPs["master"], 6443)})
	must(t, err)
	must(t, k.server.Start(ctx))
	k.admit(ctx, t)
	return k
}

// admit puts the cluster's own objects into the API: the namespace of the pods, and what a
// kubelet's credentials may do there.
func (k *kubernetes) admit(ctx context.Context, t *testing.T) {
	t.Helper()
	c, findings := spec.Parse("cluster.yaml", clusterOf(spec.HighlyAvailable, 3), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	p, err := plan.Compile(c)
	must(t, err)
	for _, o := range kubeapi.Objects(p) {
		about, err := meta.Accessor(o)
		must(t, err)
		kind := o.GetObjectKind().GroupVersionKind()
		path := "/apis/" + kind.Group + "/" + kind.Version
		if kind.Group == "" {
			path = "/api/" + kind.Version
		}
		if about.GetNamespace() != "" {
			path += "/namespaces/" + about.GetNamespace()
			// The namespace of the routers is another operator's.
			err := k.server.Admin().Do(ctx, http.MethodPost, "/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": about.GetNamespace()}}, nil)
			if refusal := (kubeapi.Refusal{}); err != nil && !(errors.As(err, &refusal) && refusal.Code == http.StatusConflict) {
				t.Fatal(err)
			}
		}
		must(t, k.server.Admin().Do(ctx, http.MethodPost, path+"/"+strings.ToLower(kind.Kind)+"s", o, nil))
	}
}

// member is a node that runs.
type member struct {
	role string
	*vm.Running
}

// boot has Ignition write a role's disk and switches the machine on. It ends with the test. Flags are
// further ones of the verb that compiles the cluster.
func (k *kubernetes) boot(ctx context.Context, t *testing.T, role string, cluster []byte, flags ...string) *member {
	t.Helper()
	m, err := vm.New(k.root)
	must(t, err)
	t.Cleanup(func() {
		if err := m.Remove(); err != nil {
			t.Error(err)
		}
	})
	document, err := k.chain.CompileRole(ctx, role, cluster, flags...)
	must(t, err)
	must(t, m.Ignite(ctx, document))
	own, err := chain.OwnImageSource()
	must(t, err)
	must(t, m.Load(ctx, own), kubenode.Prepare(ctx, m, kubenode.Config{Name: "node-" + role, Images: k.images, Joins: true}),
		kubenode.Join(m, k.api, "node-"+role, k.server.URL()),
		m.Write("/etc/resolv.conf", fmt.Appendf(nil, "nameserver %s\n", chain.NeighbourIP), 0o644),
		// The network is the lab's: there is nothing for NetworkManager to do.
		m.Write("/etc/NetworkManager/conf.d/10-lab.conf", []byte("[keyfile]\nunmanaged-devices=*\n"), 0o644))
	r, err := m.Boot(ctx, k.hosts[role])
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := r.Run(context.Background(), "sh", "-c", "systemctl --no-pager --failed; systemctl --no-pager list-jobs; journalctl --no-pager -o short-precise | tail -n 400; ls /var/log/pods; tail -n 30 /var/log/pods/*/*/*.log")
			t.Logf("console:\n%s\nmachine:\n%s", r.Console(), out)
		}
		if err := r.Halt(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &member{role: role, Running: r}
}

// pods are those that kubelet has, by name without the node's.
func (m *member) pods(ctx context.Context) (map[string]corev1.Pod, error) {
	list, err := kubenode.Pods(ctx, m.Running)
	pods := map[string]corev1.Pod{}
	for _, p := range list {
		pods[strings.TrimSuffix(p.Name, "-node-"+m.role)] = p
	}
	return pods, err
}

// well says which pods of the node are not Running and Ready, all of them.
func (m *member) well(ctx context.Context, want []string) error {
	pods, err := m.pods(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range want {
		p, ok := pods[name]
		if !ok {
			errs = append(errs, fmt.Errorf("there is no pod %s", name))
			continue
		}
		ready := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
		if p.Status.Phase != corev1.PodRunning || !ready {
			errs = append(errs, fmt.Errorf("%s is %s, ready %v: %s", name, p.Status.Phase, ready, containers(p)))
		}
	}
	return errors.Join(errs...)
}

// containers says how those of a pod are.
func containers(p corev1.Pod) string {
	var logged []string
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		state := "waits"
		switch {
		case c.State.Running != nil:
			state = "runs"
		case c.State.Terminated != nil:
			state = fmt.Sprintf("ended with %d", c.State.Terminated.ExitCode)
		case c.State.Waiting != nil:
			state = "waits: " + c.State.Waiting.Reason + " " + c.State.Waiting.Message
		}
		logged = append(logged, fmt.Sprintf("%s %s, ready %v, restarts %d", c.Name, state, c.Ready, c.RestartCount))
	}
	return strings.Join(logged, "; ")
}
