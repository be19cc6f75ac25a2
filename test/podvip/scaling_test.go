package podvip

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/cluster/workload"
	"github.com/onprem-infra/onprem-infra/shared/object"
	fleet "github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers/objects"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/fakemetal3"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
	"github.com/onprem-infra/onprem-infra/test/kubenode"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/osimage"
	"github.com/onprem-infra/onprem-infra/test/ramdisk"
)

const (
	bmcsAt   = "192.0.2.100"
	router   = "172.22.0.250" // of the provisioning network; what hosts and nodes fetch is there too
	filePort = 8080
	hostsOf  = "/apis/" + object.Metal3 + "/namespaces/" + object.HostNamespace + "/baremetalhosts"
)

func bmcPort(n int) int { return 8000 + n }

// scaling is a site whose cluster gets workers, and loses one.
type scaling struct {
	*site
	api      *realAPI
	holders  *lab.Observer
	at       *node // Ironic's
	machines []*machine
	image    osimage.Image
	begun    time.Time
}

// installed are the numbers of the workers that are bare machines. The first of the site's is the one
// that asks for an address all the time.
var installed = []int{2, 3, 4}

// openScaling has Ironic run on a node, with all that hosts are to get, and three machines that are off.
func openScaling(t *testing.T) *scaling {
	t.Helper()
	need.Root(t)
	for _, program := range []string{"debootstrap", "containerd"} {
		need.Command(t, program)
	}
	files, err := ramdisk.Build(t.Context(), slog.Default())
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs a ramdisk: %v", err))
	}
	c := &scaling{begun: time.Now()}
	if c.image, err = osimage.Build(t.Context(), slog.Default()); err != nil {
		need.Missing(t, fmt.Sprintf("needs an operating system: %v", err))
	}
	if err := kubenode.Programs(t.Context()); err != nil {
		need.Missing(t, fmt.Sprintf("needs kubelet: %v", err))
	}
	served, images, bmcs := http.NewServeMux(), map[string]string{spec.BaremetalOperatorImage: "fake-operator:1"}, map[string]string{}
	for key, path := range map[string]string{spec.IronicAgentKernel: files.Kernel, spec.IronicAgentInitramfs: files.Initramfs, spec.OSImage: c.image.Path} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := "/" + filepath.Base(path)
		served.HandleFunc(name, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) })
		images[key] = fmt.Sprintf("http://%s:%d%s@sha256:%x", besideAt, filePort, name, sha256.Sum256(content))
	}
	for _, n := range installed {
		bmcs[fmt.Sprintf("w%d", n)] = fmt.Sprintf("redfish://%s:%d/redfish/v1/Systems/1", bmcsAt, bmcPort(n))
	}
	c.site = openSiteOf(t, siteOptions{beside: router + "/24", provisioning: fmt.Sprintf(", dhcp: {gateway: %s}", router), bmcs: bmcs, images: images, real: true})
	c.routes()
	bundle := filepath.Join(c.dir, "node.tar")
	served.HandleFunc("/node.tar", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, bundle) })
	c.bundle(bundle)
	c.serve(c.beside, fmt.Sprintf("0.0.0.0:%d", filePort), served, nil)
	made, err := fakebmc.Certificate{Name: bmcsAt}.Make()
	if err != nil {
		t.Fatal(err)
	}
	control := c.add("bmcs", bmcsAt)
	for _, n := range installed {
		c.machines = append(c.machines, c.machine(n, control, made))
	}
	c.api = c.realAPI(string(made.PEM))
	c.run(c.api.host, "ip", "route", "add", "172.22.0.0/24", "via", besideAt)
	c.holders, c.at = c.site.holders(), c.nodes[0]
	c.api.schedule(t, c.at)
	t.Cleanup(c.logs)
	return c
}

// routes has the machine beside the cluster be the router of the provisioning network.
func (c *scaling) routes() {
	c.t.Helper()
	c.run(c.beside, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")
}

func (c *scaling) bundle(path string) {
	c.t.Helper()
	out, err := os.Create(path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer out.Close()
	if err := kubenode.Bundle(c.t.Context(), out); err != nil {
		c.t.Fatal(err)
	}
}

func (c *scaling) logs() {
	if c.t.Failed() {
		for _, name := range []string{"prepare", "ironic", "http"} {
			log := c.at.Log(ironicPod + "/" + name)
			c.t.Logf("%s says:\n%s", name, log[max(0, len(log)-30000):])
		}
	}
}

// lap notes a time.
func (c *scaling) lap(format string, args ...any) {
	c.t.Logf("%6.1f s  %s", time.Since(c.begun).Seconds(), fmt.Sprintf(format, args...))
}

// operate has the FAKE operator do what its Deployment says, with the rights of its account and no
// more, until the test ends. It reaches Ironic as by its Service, of which nothing is here.
func (c *scaling) operate() {
	c.t.Helper()
	id, err := c.api.Sign(kubeapi.User{Name: "system:serviceaccount:" + object.HostNamespace + ":" + workload.Operator, Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + object.HostNamespace}})
	if err != nil {
		c.t.Fatal(err)
	}
	client, err := c.api.Client(c.api.server, id)
	if err != nil {
		c.t.Fatal(err)
	}
	env := map[string]string{}
	for _, v := range c.api.operator.Spec.Template.Spec.Containers[0].Env {
		env[v.Name] = v.Value
	}
	own, roots := c.api.identity(c.t), x509.NewCertPool()
	if !roots.AppendCertsFromPEM(own["tls.crt"]) {
		c.t.Fatal("the Secret has no certificate")
	}
	endpoint := netip.AddrPortFrom(netip.MustParseAddr("192.0.2.11"), 6385)
	ironic := &fakemetal3.Ironic{URL: env["IRONIC_ENDPOINT"], User: string(own["username"]), Password: string(own["password"]),
		Client: &http.Client{Timeout: 75 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return c.beside.Dial(ctx, network, endpoint.String())
			}}}}
	operator := fakemetal3.New(fakemetal3.Options{API: client, Ironic: ironic, Namespace: object.HostNamespace, Env: env, Log: slog.Default()})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	c.t.Cleanup(func() { cancel(); <-ended })
	go func() { defer close(ended); operator.Run(ctx) }()
}

// do makes a request to the API that must succeed, as its administrator.
func (c *scaling) do(method, path string, in, out any) {
	c.t.Helper()
	if err := c.api.server.Admin().Do(c.t.Context(), method, path, in, out); err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// order asks for a host as a node: its object has the image and the document, and waits no longer.
func (c *scaling) order(name string) {
	c.t.Helper()
	id, err := c.api.Sign(kubeapi.Node(name))
	if err != nil {
		c.t.Fatal(err)
	}
	document, err := kubenode.Document(kubenode.Joining{Name: name, Bundle: fmt.Sprintf("http://%s:%d/node.tar", router, filePort),
		Kubeconfig: c.api.Kubeconfig("https://"+realAPIAt+":6443", id), CA: c.api.CA()})
	if err != nil {
		c.t.Fatal(err)
	}
	type fields = map[string]any
	c.do(http.MethodPost, "/api/v1/namespaces/"+object.HostNamespace+"/secrets", corev1.Secret{Data: map[string][]byte{"userData": document}, ObjectMeta: metav1.ObjectMeta{Name: object.UserDataOf(name)}}, nil)
	c.do(http.MethodPatch, hostsOf+"/"+name, fields{"metadata": fields{"annotations": fields{object.Paused: nil}}, "spec": fields{
		"image":    fields{"url": "http://" + provisioningVIP + ":6180/images/os.raw", "checksum": c.image.SHA256, "checksumType": "sha256", "format": "raw"},
		"userData": fields{"name": object.UserDataOf(name), "namespace": object.HostNamespace}}}, nil)
}

// world is what the API has of the hosts that are installed and of nodes, as the product reads it.
func (c *scaling) world() (w fleet.World) {
	c.t.Helper()
	var hosts struct{ Items []objects.Host }
	var nodes struct{ Items []objects.Node }
	c.do(http.MethodGet, hostsOf, nil, &hosts)
	c.do(http.MethodGet, "/api/v1/nodes", nil, &nodes)
	w.Place, w.Ironic.Ready, w.Ironic.Pods = object.AnyHosts(), true, 1
	for _, h := range hosts.Items {
		if !slices.ContainsFunc(c.machines, func(m *machine) bool { return m.name == h.Metadata.Name }) {
			continue
		}
		host, odd := h.Worker()
		if w.Hosts = append(w.Hosts, host); len(odd) > 0 {
			c.t.Errorf("%s: %q", h.Metadata.Name, odd)
		}
	}
	for _, n := range nodes.Items {
		node, _ := n.Worker()
		w.Nodes = append(w.Nodes, node)
	}
	return w
}
