package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
	"github.com/onprem-infra/onprem-infra/test/kubenode"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

// anyCluster is a cluster as kubeadm makes one: what is not said is as kubeadm has it.
const anyCluster = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  baseDomain: example.com
  platform: none
  distribution: kubernetes
  controlPlaneReplicas: 3
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
`

// kubeadmConfig has the VIP as the cluster's endpoint. The kubelet's settings are those that a
// machine of package vm needs; etcd is outside, as Debian's is older than what kubeadm starts.
const kubeadmConfig = `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: %[2]s}
nodeRegistration:
  name: node-%[3]s
  criSocket: unix:///run/containerd/containerd.sock
  imagePullPolicy: Never
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: %[1]s
controlPlaneEndpoint: 192.0.2.5:6443
etcd: {external: {endpoints: ["http://192.0.2.1:2379"]}}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: [none]
failCgroupV1: false
failSwapOn: false
evictionHard: {nodefs.available: 0%%, imagefs.available: 0%%, nodefs.inodesFree: 0%%, imagefs.inodesFree: 0%%, memory.available: 1Mi}
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
`

// apiImage is where kubeadm expects the API server of a version.
const apiImage = "registry.k8s.io/kube-apiserver:"

// TestLongKubeadm has a real kubeadm make the first control plane node of a cluster that has no
// bootstrap machine and nothing of OpenShift: the VIP comes up while kubeadm waits for it, kubeadm
// goes on over it, and once the nodes have their rights the balancer serves the VIP and every node
// answers for the cluster's names. A second node joins, takes nothing away, and has the VIP when
// the first one loses its power.
func TestLongKubeadm(t *testing.T) {
	needLong(t)
	need.Root(t)
	for _, name := range []string{"debootstrap", "systemd-nspawn", "podman", "ip", "unshare", "nsenter", "make", "containerd", "ctr", "catatonit", "etcd"} {
		need.Command(t, name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	made := newMade(ctx, t)
	m := made.boot(ctx, t, "master", nil)
	m.install(ctx, t)
	m.founds(ctx, t)
	m.joinsItself(ctx, t)
	m.servesAll(ctx, t)
	m.traceless(ctx, t)
	second := made.boot(ctx, t, "second", m.authority(ctx, t))
	second.install(ctx, t)
	second.joins(ctx, t)
	m.knows(ctx, t, second)
	m.succeeds(ctx, t, second)
}

// founder is a machine that kubeadm makes a control plane node.
type founder struct {
	member
	chain *chain.Chain
	host  *lab.Host
	start time.Time
}

// made is a cluster that kubeadm makes: what its machines are made of, and its etcd.
type made struct {
	chain   *chain.Chain
	images  map[string]kubenode.Image
	version string
}

// newMade has no machine yet.
func newMade(ctx context.Context, t *testing.T) *made {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	must(t, kubenode.Programs(ctx))
	server, err := cache.KubeAPIServer(ctx)
	must(t, err)
	c, err := chain.New(ctx, log)
	must(t, err)
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	must(t, c.Build(ctx))
	trees, err := c.NodeImages(ctx, need.Command(t, "keepalived"), need.Command(t, "haproxy"))
	must(t, err)
	version := kubernetesVersion(ctx, t)
	images := map[string]kubenode.Image{apiImage + version: {Tree: map[string]string{"usr/local/bin/kube-apiserver": server}}}
	for name, tree := range trees {
		images[name] = kubenode.Image{Tree: tree}
	}
	etcd, err := kubeapi.Open(ctx, kubeapi.Config{Dir: t.TempDir(), Etcd: c.Neighbour, Address: chain.NeighbourIP})
	must(t, err)
	t.Cleanup(func() {
		if err := etcd.Close(); err != nil {
			t.Errorf("close etcd: %v", err)
		}
	})
	return &made{chain: c, images: images, version: version}
}

// boot boots a machine with kubelet waiting for kubeadm, as its packages leave it, with what the
// role of a control plane node has, and with files beside.
func (k *made) boot(ctx context.Context, t *testing.T, name string, files map[string][]byte) *founder {
	t.Helper()
	c := k.chain
	host, err := c.Host("node-"+name, nodeIPs[name])
	must(t, err)
	must(t, host.Route(chain.NeighbourIP))
	root, err := vm.Root(ctx, slog.New(slog.NewTextHandler(t.Output(), nil)))
	must(t, err)
	m, err := vm.New(root)
	must(t, err)
	t.Cleanup(func() {
		if err := m.Remove(); err != nil {
			t.Error(err)
		}
	})
	own, err := chain.OwnImageSource()
	must(t, err, m.Load(ctx, own), kubenode.Prepare(ctx, m, kubenode.Config{Name: "node-" + name, Images: k.images, Kubeadm: true}),
		m.Write("/etc/resolv.conf", fmt.Appendf(nil, "nameserver %s\n", chain.NeighbourIP), 0o644),
		m.Write("/etc/hostname", []byte("node-"+name+"\n"), 0o644),
		m.Write("/etc/NetworkManager/conf.d/10-lab.conf", []byte("[keyfile]\nunmanaged-devices=*\n"), 0o644),
		m.Write("/root/kubeadm.yaml", fmt.Appendf(nil, kubeadmConfig, k.version, nodeIPs[name], name), 0o644))
	for path, text := range files {
		must(t, m.Write(path, text, 0o600))
	}
	must(t, rendered(ctx, t, c, m, "master", "/root/master"), rendered(ctx, t, c, m, "cluster", "/root/manifests"))
	r, err := m.Boot(ctx, host)
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := r.Run(context.Background(), "sh", "-c", "systemctl --no-pager --failed; journalctl --no-pager -o short-precise | tail -n 300; ls /var/log/pods; tail -n 40 /var/log/pods/*/*/*.log")
			t.Logf("console:\n%s\nmachine:\n%s", r.Console(), out)
		}
		if err := r.Halt(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &founder{member: member{role: name, Running: r}, chain: c, host: host}
}

// rendered puts what 'render' writes of a role below a directory of the machine.
func rendered(ctx context.Context, t *testing.T, c *chain.Chain, m *vm.Machine, role, inside string) error {
	t.Helper()
	dir := t.TempDir()
	if err := c.RenderRole(ctx, role, []byte(anyCluster), dir); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return m.Write(inside+strings.TrimPrefix(path, dir), text, info.Mode().Perm())
	})
}

// kubernetesVersion is that of the programs, as kubeadm says it.
func kubernetesVersion(ctx context.Context, t *testing.T) string {
	t.Helper()
	kubeadm, err := cache.Kubeadm(ctx)
	must(t, err)
	out, err := kubeapi.Here{}.Command(ctx, kubeadm, "version", "-o", "short").Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

// sh runs a command line on the machine, which must succeed.
func (m *founder) sh(ctx context.Context, t *testing.T, line string) string {
	t.Helper()
	out, err := m.Run(ctx, "sh", "-euc", "export PATH=/opt/node:$PATH KUBECONFIG=/etc/kubernetes/admin.conf; "+line)
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return out
}

// install is what an administrator does before kubeadm, as the README says.
func (m *founder) install(ctx context.Context, t *testing.T) {
	t.Helper()
	m.sh(ctx, t, "cp -r /root/master/. / && systemctl daemon-reload")
	m.sh(ctx, t, "sed -n 's/^enable //p' /etc/systemd/system-preset/20-onprem-infra.preset | xargs systemctl enable --now")
}

// resolves waits until the node is first in its own resolv.conf, for which kubelet waits too.
func (m *founder) resolves(ctx context.Context, t *testing.T) {
	t.Helper()
	eventually(t, 2*time.Minute, func() error {
		_, err := m.Run(ctx, "test", "-e", "/run/onprem-resolv-done")
		return err
	})
}

// founds has kubeadm do what it does until it waits for the API, and holds that the VIP comes up
// then, while nothing else could have made it: the API has named no node, and nobody has given the
// kubelet's group a right.
func (m *founder) founds(ctx context.Context, t *testing.T) {
	t.Helper()
	m.resolves(ctx, t)
	m.start = time.Now()
	for _, phase := range []string{"certs all", "kubeconfig all", "control-plane apiserver", "kubelet-start"} {
		m.sh(ctx, t, "kubeadm init phase "+phase+" --config /root/kubeadm.yaml")
	}
	eventually(t, 2*time.Minute, func() error { // which is what kubeadm waits for
		_, err := m.Run(ctx, "/opt/node/kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf", "--request-timeout", "2s", "get", "--raw", "/readyz")
		return err
	})
	if server := m.sh(ctx, t, "grep server: $KUBECONFIG"); !strings.Contains(server, "https://192.0.2.5:6443") {
		t.Fatalf("the administrator does not go by the VIP: %s", server)
	}
	t.Logf("the API answers at the VIP %s after kubeadm began", time.Since(m.start).Round(10*time.Millisecond))
}

// joinsItself has kubeadm go on over the VIP, and an administrator give the nodes their rights.
func (m *founder) joinsItself(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, phase := range []string{"upload-config all", "mark-control-plane", "kubelet-finalize all"} {
		m.sh(ctx, t, "kubeadm init phase "+phase+" --config /root/kubeadm.yaml")
	}
	m.sh(ctx, t, "kubectl apply --recursive -f /root/manifests")
	eventually(t, 2*time.Minute, func() error { return m.well(ctx, []string{"coredns", "haproxy", "keepalived"}) })
	t.Logf("all pods are Running and Ready %s after kubeadm began", time.Since(m.start).Round(10*time.Millisecond))
}

// servesAll holds what it is all for: the VIP leads to the balancer, and the node answers for the
// cluster's names, also to itself.
func (m *founder) servesAll(ctx context.Context, t *testing.T) {
	t.Helper()
	eventually(t, time.Minute, func() error {
		_, err := m.Run(ctx, "/usr/local/bin/onprem-infra", "check", "lb")
		return err
	})
	eventually(t, time.Minute, func() error {
		dial, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		connection, err := m.chain.Neighbour.Dial(dial, "tcp", chain.APIVIP.String()+":6443")
		if err != nil {
			return err
		}
		return connection.Close()
	})
	node := nodeIPs["master"]
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return m.chain.Neighbour.Dial(ctx, network, netip.AddrPortFrom(node, 53).String())
	}}
	for name, want := range map[string]string{"api": "192.0.2.5", "api-int": "192.0.2.5", "any.apps": "192.0.2.6", "node-master": node.String()} {
		eventually(t, time.Minute, func() error {
			got, err := resolver.LookupNetIP(ctx, "ip4", name+"."+chain.Zone+".")
			if err == nil && (len(got) != 1 || got[0].Unmap().String() != want) {
				err = fmt.Errorf("%s is %v, want %s", name, got, want)
			}
			return err
		})
	}
	if out := m.sh(ctx, t, "getent hosts api-int."+chain.Zone); !strings.HasPrefix(out, "192.0.2.5 ") {
		t.Errorf("the node itself finds api-int at %q", out)
	}
	if out := m.sh(ctx, t, "onprem-infra vip leave --help >/dev/null; systemctl is-active onprem-vip-leave.service nodeip-configuration.service || :"); !strings.HasPrefix(out, "active\n") {
		t.Errorf("onprem-vip-leave.service is %q", out)
	}
}

// traceless holds that nothing on the machine but our programs, and nothing in the API, names
// OpenShift.
func (m *founder) traceless(ctx context.Context, t *testing.T) {
	t.Helper()
	files := m.sh(ctx, t, "grep -rilE 'openshift|machine-config|chk_mcs|chk_ocp|kni-infra' /etc/kubernetes /etc/systemd/system /etc/onprem-infra /etc/keepalived /etc/haproxy /etc/coredns /etc/NetworkManager /run/onprem-infra /var/lib/onprem-infra || :")
	if files != "" {
		t.Errorf("files name OpenShift:\n%s", files)
	}
	objects := m.sh(ctx, t, "kubectl get --all-namespaces --output yaml namespaces,nodes,pods,configmaps,clusterroles,clusterrolebindings,roles,rolebindings")
	for line := range strings.Lines(objects) {
		if strings.Contains(strings.ToLower(line), "openshift") {
			t.Errorf("an object names OpenShift: %s", line)
		}
	}
	if strings.Count(objects, "kind: Pod") < 4 { // the API server's mirror, and ours
		t.Errorf("the API has only these objects:\n%.4000s", objects)
	}
}
