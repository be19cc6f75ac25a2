package balanced

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/test/fabric"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

const apiInt = "api-int.ostest.example.com"

// world is the network with its nodes: two in the first rack, one in the second.
type world struct {
	t           *testing.T
	f           *fabric.Fabric
	dir         string
	plan        plan.Plan
	certificate []byte // of all servers: it is its own CA
	images      map[string]map[string]string
	api         *lab.Host
	nodes       []*node
}

// open starts everything, and waits until routers lead to all nodes.
func open(t *testing.T) *world {
	t.Helper()
	need.Root(t)
	need.Command(t, "runc")
	timing, _ := bgp.TimingOf(bgp.ProfileLan)
	w := &world{t: t, f: fabric.Open(t, timing), dir: t.TempDir()}
	w.build()
	w.compile()
	w.identify()
	w.name()
	for _, n := range []struct{ rack, number int }{{1, 11}, {1, 12}, {2, 13}} {
		w.node(n.rack, n.number)
	}
	w.start()
	w.until("ways to all nodes", time.Minute, w.spread)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) until(what string, within time.Duration, done func() bool) {
	w.t.Helper()
	for begun := time.Now(); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > within {
			w.t.Fatalf("%s: not within %v", what, within)
		}
	}
}

// spread reports whether routers use all nodes: the spine both leaves, and the first leaf both of its rack.
func (w *world) spread() bool {
	return len(w.f.Nexthops(w.f.Spine, fabric.VIP4)) == 2 && len(w.f.Nexthops(w.f.Leaves[0], fabric.VIP4)) == 2
}

// build makes our programs, and what is in the images of each node.
func (w *world) build() {
	w.t.Helper()
	build := exec.CommandContext(w.t.Context(), "go", "build", "-tags", "remote", "-o", w.dir+"/", "./cmd/onprem-infra", "./cmd/onprem-speak",
		"./test/fakeapi", "./test/podlb/backend")
	build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		w.t.Fatalf("build our programs: %v\n%s", err, out)
	}
	program, err := filepath.EvalSymlinks(need.Command(w.t, "haproxy"))
	w.must(err)
	haproxy, err := vm.Linked(w.t.Context(), program)
	w.must(err)
	haproxy[balancer] = program
	frr, err := vm.FRRImage(w.t.Context(), "frr", daemons.Programs)
	w.must(err)
	w.images = map[string]map[string]string{"haproxy": haproxy, "frr": frr.Tree,
		"ours": {"usr/bin/onprem-infra": w.dir + "/onprem-infra", "usr/bin/onprem-speak": w.dir + "/onprem-speak"}}
}

// balancer is HAProxy in its image.
const balancer = "usr/sbin/haproxy"

// compile is the plan of a cluster whose racks are those of the fabric.
func (w *world) compile() {
	w.t.Helper()
	c := spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3,
		APIVIPs: []netip.Addr{fabric.VIP4, fabric.VIP6}, IngressVIPs: []netip.Addr{fabric.VIP4.Next(), fabric.VIP6.Next()},
		Images:  map[string]string{spec.RuntimeCfgImage: "ours", spec.HAProxyImage: "haproxy", spec.FRRImage: "frr", spec.CoreDNSImage: "c", spec.KeepalivedImage: "k"},
		Routing: spec.Routing{Management: spec.ByBGP, BGP: routing.BGPSettings{ASN: fabric.Hosts}},
	}
	for i := range 2 {
		four, six := fabric.RackAddress(i+1, 1)
		c.MachineNetworks = append(c.MachineNetworks, four.Masked(), six.Masked())
		asn := fabric.FirstASN + bgp.ASN(i)
		peers := []routing.Peer{{Address: four.Addr(), ASN: asn}, {Address: six.Addr(), ASN: asn}}
		c.Routing.BGP.Racks = append(c.Routing.BGP.Racks, routing.Rack{Network: four.Masked(), Peers: peers}, routing.Rack{Network: six.Masked(), Peers: peers})
	}
	var err error
	w.plan, err = plan.Compile(c)
	w.must(err)
}

// identify writes one certificate for all servers, with its key.
func (w *world) identify() {
	w.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.must(err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ostest"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, DNSNames: []string{apiInt},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, key.Public(), key)
	w.must(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	w.must(err)
	w.certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	both := append(bytes.Clone(w.certificate), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	w.must(os.WriteFile(w.pem(), both, 0o600))
}

func (w *world) pem() string { return w.dir + "/cert.pem" }

// trust is what a client has.
func (w *world) trust() *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.certificate)
	return &tls.Config{RootCAs: roots, ServerName: apiInt}
}

// apiAt is where the FAKE API is that names the nodes.
func apiAt() netip.Addr {
	four, _ := fabric.RackAddress(2, 90)
	return four.Addr()
}

// name starts the API that names the nodes.
func (w *world) name() {
	w.t.Helper()
	w.api = w.f.Host("api", 2, 90)
	w.launch(w.api, w.dir+"/fakeapi", "-state", w.dir+"/nodes.json", "-cert", w.pem(), "-key", w.pem())
	w.until("the API answers", 10*time.Second, func() bool { return w.call(http.MethodGet, nil) == nil })
}

// register has the API name a control plane node.
func (w *world) register(name string, address netip.Addr) {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"name": name, "labels": map[string]string{w.plan.ControlPlaneLabel: ""}},
		"status":   map[string]any{"addresses": []map[string]string{{"type": "InternalIP", "address": address.String()}}},
	})
	w.must(err)
	w.must(w.call(http.MethodPost, body))
}

func (w *world) call(method string, body []byte) error {
	request, err := http.NewRequestWithContext(w.t.Context(), method, fmt.Sprintf("https://%s:6443/api/v1/nodes", apiAt()), bytes.NewReader(body))
	if err != nil {
		return err
	}
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DialContext: w.api.Dial, DisableKeepAlives: true, TLSClientConfig: w.trust()}}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s the nodes: %s", method, answer.Status)
	}
	return nil
}

// kubeconfig is what a node's kubelet has.
func (w *world) kubeconfig() []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://%s:6443", tls-server-name: %s, certificate-authority-data: %s}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`, apiAt(), apiInt, base64.StdEncoding.EncodeToString(w.certificate))
}

// launch runs a program until the test ends, or kill ends it.
func (w *world) launch(host *lab.Host, program string, args ...string) (kill func()) {
	w.t.Helper()
	cmd := host.Command(context.WithoutCancel(w.t.Context()), program, args...)
	w.must(cmd.Start())
	kill = func() {
		_ = cmd.Process.Kill() // it may be gone
		_ = cmd.Wait()
	}
	w.t.Cleanup(kill)
	return kill
}
