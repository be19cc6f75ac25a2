package podvip

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/workload"
	"github.com/onprem-infra/onprem-infra/shared/object"
	fleet "github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers/objects"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
	"github.com/onprem-infra/onprem-infra/test/kubenode"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/osimage"
	"github.com/onprem-infra/onprem-infra/test/pods"
	"github.com/onprem-infra/onprem-infra/test/qemuhost"
	"github.com/onprem-infra/onprem-infra/test/ramdisk"
)

const (
	bmcsAt   = "192.0.2.100"
	router   = "172.22.0.250" // of the provisioning network; what hosts and nodes fetch is there too
	filePort = 8080

	operatorImage = "baremetal-operator:1"
	hostsOf       = "/apis/" + object.Metal3 + "/namespaces/" + object.HostNamespace + "/baremetalhosts"
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
	operator, err := cache.BaremetalOperator(t.Context())
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs metal3's operator: %v", err))
	}
	served, images, bmcs := http.NewServeMux(), map[string]string{spec.BaremetalOperatorImage: operatorImage}, map[string]string{}
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
	c.images[operatorImage] = filepath.Join(c.dir, "image-operator")
	if err := pods.Image(c.images[operatorImage], map[string]string{"baremetal-operator": operator}); err != nil {
		t.Fatal(err)
	}
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
	c.api.schedule(t, c.at, c.api.deployment)
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
		log := c.nodes[1].Log(workload.Operator + "/operator")
		c.t.Logf("metal3's operator says:\n%s", log[max(0, len(log)-60000):])
	}
}

// lap notes a time.
func (c *scaling) lap(format string, args ...any) {
	c.t.Logf("%6.1f s  %s", time.Since(c.begun).Seconds(), fmt.Sprintf(format, args...))
}

// operate runs the pod of the operator's Deployment on another node than Ironic's.
func (c *scaling) operate() {
	c.t.Helper()
	c.api.schedule(c.t, c.nodes[1], c.api.operator)
}

// do makes a request to the API that must succeed, as its administrator.
func (c *scaling) do(method, path string, in, out any) {
	c.t.Helper()
	if err := c.api.server.Admin().Do(c.t.Context(), method, path, in, out); err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// administer writes what an administrator has beside the description that the cluster was rendered
// from, and says what a controller would of Ironic's Deployment, of which the lab has started the pod.
func (c *scaling) administer() {
	c.t.Helper()
	id, err := c.api.Sign(kubeapi.Admin())
	if err != nil {
		c.t.Fatal(err)
	}
	images, err := json.Marshal(c.plan.Images)
	if err != nil {
		c.t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"images.json": images, "kubeconfig": c.api.Kubeconfig("https://"+realAPIAt+":6443", id),
		accountFile: fmt.Appendf(nil, "username: %s\npassword: %s\n", qemuhost.User, qemuhost.Password)} {
		if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	type fields = map[string]any
	c.do(http.MethodPatch, "/apis/apps/v1/namespaces/"+object.HostNamespace+"/deployments/"+workload.Ironic+"/status",
		fields{"status": fields{"replicas": 1, "readyReplicas": 1}}, nil)
}

// hosts runs "onprem-infra hosts" with the administrator's files until the test ends. The channel gets
// its error, with what it has printed.
func (c *scaling) hosts(verb, name string, args ...string) <-chan error {
	c.t.Helper()
	cmd := c.beside.Command(c.t.Context(), c.dir+"/onprem-infra", append([]string{"hosts", verb, name, "--apply", "--kubeconfig", "kubeconfig", "-c", "cluster.yaml"}, args...)...)
	cmd.Dir = c.dir
	ended := make(chan error, 1)
	go func() {
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("hosts %s %s: %w", verb, name, err)
		}
		slog.Info("onprem-infra hosts", "verb", verb, "host", name, "printed", string(out))
		ended <- err
	}()
	return ended
}

// order asks for a host as a node: the document by which it joins is there from now on alone.
func (c *scaling) order(name string) <-chan error {
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
	if err := os.WriteFile(filepath.Join(c.dir, name+".ign"), document, 0o600); err != nil {
		c.t.Fatal(err)
	}
	return c.hosts("add", name, "--images", "images.json", "--user-data", name+".ign")
}

// ended holds that the program has done all steps.
func (c *scaling) ended(programs ...<-chan error) {
	c.t.Helper()
	for _, p := range programs {
		select {
		case err := <-p:
			if err != nil {
				c.t.Error(err)
			}
		case <-time.After(time.Minute):
			c.t.Error("the program does not end")
		}
	}
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
