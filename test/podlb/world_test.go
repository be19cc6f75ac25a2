package podlb

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/figures"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/pods"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

const (
	vip, vip6 = "192.0.2.5", "2001:db8::5"
	apiAt     = "192.0.2.90"
	apiInt    = "api-int.ostest.example.com"
)

// world is a lab with three control plane nodes, of which the first runs the balancer's pod and
// holds the VIPs, a client, and a FAKE API that names the nodes.
type world struct {
	t       *testing.T
	lab     *lab.Lab
	dir     string
	bin     string // where the programs are
	plan    plan.Plan
	api     *lab.Host
	client  *lab.Host
	hosts   map[string]*lab.Host
	servers map[string]*exec.Cmd
	node    *pods.Node // the holder
}

func open(t *testing.T) *world {
	t.Helper()
	return openOf(t, func(*spec.Cluster) {})
}

// openOf is open for a cluster that differs.
func openOf(t *testing.T, change func(*spec.Cluster)) *world {
	t.Helper()
	need.Root(t)
	need.Command(t, "runc")
	c := spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: vrrp.ProfileCompat,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr(vip), netip.MustParseAddr(vip6)},
		IngressVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.6"), netip.MustParseAddr("2001:db8::6")},
		Images:          map[string]string{spec.RuntimeCfgImage: "ours", spec.HAProxyImage: "haproxy", spec.KeepalivedImage: "k", spec.CoreDNSImage: "c"},
	}
	change(&c)
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	need.Command(t, "haproxy")
	programs, err := built()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, bin: programs, lab: lab.New(t), dir: t.TempDir(), plan: p, hosts: map[string]*lab.Host{}, servers: map[string]*exec.Cmd{}}
	certificate := identity(t, w.dir)
	w.api, w.client = w.add("api", apiAt+"/24"), w.add("client", "192.0.2.100/24", "2001:db8::100/64")
	w.launch(w.api, w.bin+"/fakeapi", "-state", w.dir+"/nodes.json", "-cert", w.dir+"/cert.pem", "-key", w.dir+"/cert.pem")
	for i, name := range []string{"m1", "m2", "m3"} {
		w.hosts[name] = w.add(name, fmt.Sprintf("192.0.2.1%d/24", i), fmt.Sprintf("2001:db8::1%d/64", i))
		w.serve(name)
	}
	w.within("the API answers", 10*time.Second, func() bool { return w.call(http.MethodGet, "/api/v1/nodes", nil) == nil })
	w.run(certificate)
	return w
}

// built is where the programs and images are, for all tests of this run.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "podlb-")
	if err != nil {
		return "", err
	}
	for out, args := range map[string][]string{"onprem-infra": {"-tags", "remote", "../../cmd/onprem-infra"}, "fakeapi": {"../fakeapi"}, "backend": {"./backend"}} {
		cmd := exec.Command("go", append([]string{"build", "-o", filepath.Join(dir, out)}, args...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("go build %v: %w\n%s", args, err, output)
		}
	}
	program, err := exec.LookPath("haproxy")
	if err != nil {
		return dir, err
	}
	tree, err := vm.Linked(context.Background(), program)
	if err != nil {
		return dir, err
	}
	tree["usr/sbin/haproxy"] = program
	return dir, errors.Join(pods.Image(dir+"/image-haproxy", tree),
		pods.Image(dir+"/image-ours", map[string]string{"usr/bin/onprem-infra": dir + "/onprem-infra"}))
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := built(); dir != "" {
		_ = os.RemoveAll(dir) // it is a temporary directory
	}
	os.Exit(code)
}

// identity writes one certificate for all servers, with its key, and returns it: it is its own CA.
func identity(t *testing.T, dir string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ostest"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, DNSNames: []string{apiInt},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	both := append(bytes.Clone(certificate), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	if err := os.WriteFile(dir+"/cert.pem", both, 0o600); err != nil {
		t.Fatal(err)
	}
	return certificate
}

func (w *world) add(name string, addresses ...string) *lab.Host {
	w.t.Helper()
	var prefixes []netip.Prefix
	for _, a := range addresses {
		prefixes = append(prefixes, netip.MustParsePrefix(a))
	}
	host, err := w.lab.Add(name, prefixes...)
	if err != nil {
		w.t.Fatal(err)
	}
	return host
}

func (w *world) ip(host *lab.Host, args string) {
	w.t.Helper()
	if out, err := host.Command(w.t.Context(), "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
		w.t.Fatalf("ip %s on %s: %v %s", args, host.Name, err, out)
	}
}

func (w *world) launch(host *lab.Host, program string, args ...string) *exec.Cmd {
	w.t.Helper()
	cmd := host.Command(context.WithoutCancel(w.t.Context()), program, args...)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone
		_ = cmd.Wait()
	})
	return cmd
}

// serve starts a node's API server and machine config server.
func (w *world) serve(name string) {
	w.servers[name] = w.launch(w.hosts[name], w.bin+"/backend", "-name", name, "-cert", w.dir+"/cert.pem")
}

func (w *world) signal(name string, s syscall.Signal) {
	w.t.Helper()
	if err := w.servers[name].Process.Signal(s); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) call(method, path string, body []byte) error {
	request, err := http.NewRequestWithContext(w.t.Context(), method, "https://"+apiAt+":6443"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	reply, err := w.http(w.api, 5*time.Second).Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s %s %v", method, path, reply.Status, text, err)
	}
	return nil
}

// register has the API name a control plane node.
func (w *world) register(name, address string) {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"name": name, "labels": map[string]string{"node-role.kubernetes.io/master": ""}},
		"status":   map[string]any{"addresses": []map[string]string{{"type": "InternalIP", "address": address}}},
	})
	if err == nil {
		err = w.call(http.MethodPost, "/api/v1/nodes", body)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) unregister(name string) {
	w.t.Helper()
	if err := w.call(http.MethodDelete, "/api/v1/nodes/"+name, nil); err != nil {
		w.t.Fatal(err)
	}
}

// run starts the pod, as a master has it, on the first node.
func (w *world) run(ca []byte) {
	w.t.Helper()
	set, err := cluster.Assets(w.plan, role.Master)
	if err != nil {
		w.t.Fatal(err)
	}
	node, err := pods.New(w.hosts["m1"], w.dir+"/m1", map[string]string{"ours": w.bin + "/image-ours", "haproxy": w.bin + "/image-haproxy"})
	if err != nil {
		w.t.Fatal(err)
	}
	kubeconfig := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://%s:6443", tls-server-name: %s, certificate-authority-data: %s}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`, apiAt, apiInt, base64.StdEncoding.EncodeToString(ca))
	files := []asset.File{
		{Path: plan.Path, Mode: 0o644, Contents: plan.Encode(w.plan)},
		{Path: "/var/lib/kubelet/kubeconfig", Mode: 0o600, Contents: []byte(kubeconfig)},
	}
	for _, f := range set.Files() {
		if f.Path == "/etc/kubernetes/manifests/haproxy.yaml" {
			files = append(files, f)
		}
	}
	if err := node.Write(files...); err != nil {
		w.t.Fatal(err)
	}
	w.node = node
	w.t.Cleanup(func() {
		if w.t.Failed() {
			for _, c := range []string{"haproxy-prepare", "haproxy-monitor", "haproxy"} {
				w.t.Logf("%s says:\n%s", c, node.Log("haproxy/"+c))
			}
		}
		if err := node.Stop(); err != nil {
			w.t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	defer cancel()
	if err := node.Start(ctx); err != nil {
		w.t.Fatalf("%v\n%s", err, node.Log("haproxy/haproxy-prepare"))
	}
	w.ip(w.hosts["m1"], "address add "+vip+"/32 dev eth0")
	w.ip(w.hosts["m1"], "address add "+vip6+"/128 dev eth0 nodad")
}

func (w *world) within(what string, limit time.Duration, done func() bool) time.Duration {
	w.t.Helper()
	begun := time.Now()
	for !done() {
		if time.Since(begun) > limit {
			w.t.Fatalf("%s: not within %v", what, limit)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(begun)
}

// bounded is how long a failure may cost clients on this machine, once it is over.
func (w *world) bounded(scenario string) func() time.Duration {
	w.t.Helper()
	within, err := figures.Bounded(w.plan.Timing.Bounds, scenario)
	if err != nil {
		w.t.Fatal(err)
	}
	return within
}

// up waits until HAProxy has so many API servers, which all passed their last check, and no fewer
// machine config servers. One that failed its last check is up until it failed more.
func (w *world) up(n int) time.Duration {
	w.t.Helper()
	return w.within(fmt.Sprintf("%d servers are up", n), 15*time.Second, func() bool {
		up, passed := map[string]int{}, map[string]int{}
		for _, s := range w.stats() {
			if s.Up() {
				up[s.Backend]++
				if s.Passed() {
					passed[s.Backend]++
				}
			}
		}
		return up[haproxy.Masters] == n && passed[haproxy.Masters] == n && passed[haproxy.MachineConfig] >= n
	})
}

// stats are what HAProxy's statistics page says.
func (w *world) stats() []haproxy.Stat {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DialContext: w.hosts["m1"].Dial, DisableKeepAlives: true}}
	reply, err := client.Get("http://127.0.0.1:29445/haproxy_stats;csv")
	if err != nil {
		return nil
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		return nil
	}
	stats, err := haproxy.ParseStats(text)
	if err != nil {
		w.t.Error(err)
	}
	return stats
}

// haproxyd has HAProxy's master or worker carry out a command.
func (w *world) haproxyd(socket, command string) string {
	w.t.Helper()
	// The path is too long for a socket's address.
	dir, err := os.Open(filepath.Join(w.node.Root, "run/onprem-infra/haproxy"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer dir.Close()
	conn, err := net.DialTimeout("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socket), time.Second)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprintln(conn, command)
	_ = conn.(*net.UnixConn).CloseWrite()
	answer, _ := io.ReadAll(conn) // a master that begins anew cuts it
	return string(answer)
}

// workers are HAProxy's worker processes, old ones too.
func (w *world) workers() (pids []string) {
	for line := range strings.Lines(w.haproxyd("master.sock", "show proc")) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == "worker" {
			pids = append(pids, f[0])
		}
	}
	return pids
}
