package podvip

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/apihost"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/pods"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

const (
	apiVIP = "192.0.2.5"
	apiAt  = "192.0.2.90"
	runDir = "run/onprem-infra/keepalived"
)

// lan is a lab with a FAKE API and control plane nodes.
type lan struct {
	t      *testing.T
	lab    *lab.Lab
	dir    string
	plan   plan.Plan
	images map[string]string
	api    *apihost.API

	network string  // of which hosts have addresses, up to the last part
	nodes   []*node // of the control plane

	monitor []string // more arguments of the VIPs' monitors
}

// open makes one under a timing profile.
func open(t *testing.T, timing string) *lan {
	t.Helper()
	return openBy(t, timing, apihost.Start)
}

// openBy makes one whose API is started so.
func openBy(t *testing.T, timing string, start func(t *testing.T, host *lab.Host, address, dir string) *apihost.API) *lan {
	t.Helper()
	l := prepare(t, lab.New(t))
	l.plan = l.compile(plan.Way{Timing: timing, Mode: spec.Unicast}, spec.Former{})
	l.api = start(t, l.add("api", apiAt), apiAt, l.dir)
	return l
}

// prepare makes our programs and images, for hosts on a switch.
func prepare(t *testing.T, on *lab.Lab) *lan {
	t.Helper()
	need.Root(t)
	for _, program := range []string{"runc", "catatonit"} {
		need.Command(t, program)
	}
	l := &lan{t: t, lab: on, dir: t.TempDir(), network: "192.0.2."}
	for _, args := range [][]string{
		{"-o", l.dir + "/onprem-infra", "-tags", "remote", "../../cmd/onprem-infra"}, {"-o", l.dir + "/onprem-supervise", "../../cmd/onprem-supervise"},
	} {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"build"}, args...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build %v: %v\n%s", args, err, out)
		}
	}
	keepalived, err := filepath.EvalSymlinks(need.Command(t, "keepalived"))
	if err != nil {
		t.Fatal(err)
	}
	image, err := vm.KeepalivedImage(t.Context(), "keepalived:1", keepalived)
	if err != nil {
		t.Fatal(err)
	}
	l.images = map[string]string{"keepalived:1": l.dir + "/image-keepalived", "onprem-infra:1": l.dir + "/image-onprem-infra"}
	own := map[string]string{"usr/bin/onprem-infra": l.dir + "/onprem-infra", "usr/bin/onprem-supervise": l.dir + "/onprem-supervise"}
	for image, what := range map[string]map[string]string{"keepalived:1": image.Tree, "onprem-infra:1": own} {
		if err := pods.Image(l.images[image], what); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// compile is the plan of the lab's cluster.
func (l *lan) compile(way plan.Way, from spec.Former) plan.Plan {
	l.t.Helper()
	p, err := plan.Compile(spec.Cluster{
		TimingProof: map[string]uint32{"m1": 900, "m2": 1100, "m3": 2000}, // of fast
		Name:        "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: way.Timing, VRRP: way.Mode, MigrateFrom: from,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr(apiVIP)}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Images: map[string]string{spec.KeepalivedImage: "keepalived:1", spec.RuntimeCfgImage: "onprem-infra:1", spec.HAProxyImage: "none:1", spec.CoreDNSImage: "none:1"},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}

func (l *lan) add(name, address string) *lab.Host {
	l.t.Helper()
	host, err := l.lab.Add(name, netip.PrefixFrom(netip.MustParseAddr(address), 24))
	if err != nil {
		l.t.Fatal(err)
	}
	return host
}

// until waits, and says how long it took.
func (l *lan) until(what string, within time.Duration, done func() bool) time.Duration {
	l.t.Helper()
	begun := time.Now()
	for !done() {
		if time.Since(begun) > within {
			l.t.Fatalf("%s: not within %v", what, within)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(begun)
}

// node is a node with its keepalived pod, a FAKE balancer that answers for HAProxy's readiness and
// statistics, and a FAKE ingress router.
type node struct {
	*pods.Node
	l        *lan
	balancer atomic.Pointer[balancer]
	router   atomic.Bool
	answers  http.Handler
	stats    *http.Server // of the FAKE balancer; nil while that has ended
}

// balancer is what a FAKE balancer says of itself.
type balancer struct {
	up    bool
	check string // of its one server's last check
}

func (l *lan) node(i int, r role.Role) *node {
	l.t.Helper()
	name, address := fmt.Sprintf("%.1s%d", r, i), fmt.Sprintf("%s%d", l.network, 10+i)
	machine, err := pods.New(l.add(name, address), filepath.Join(l.dir, name), l.images)
	if err != nil {
		l.t.Fatal(err)
	}
	n := &node{Node: machine, l: l}
	n.balancer.Store(&balancer{up: true, check: "INI"})
	n.serve()
	set, err := cluster.Assets(l.plan, r)
	if err != nil {
		l.t.Fatal(err)
	}
	files := []asset.File{{Path: plan.Path, Mode: 0o644, Contents: plan.Encode(l.plan)}, {Path: l.plan.Kubeconfig, Mode: 0o600, Contents: l.api.Kubeconfig(name)}}
	for _, f := range set.Files() {
		if strings.HasSuffix(f.Path, "/manifests/provisioning.yaml") {
			files = append(files, f)
		}
		if strings.HasSuffix(f.Path, "/manifests/keepalived.yaml") {
			role := "    - --role=" + string(r) + "\n"
			for _, arg := range l.monitor {
				f.Contents = bytes.Replace(f.Contents, []byte(role), []byte(role+"    - "+arg+"\n"), 1)
			}
			files = append(files, f)
		}
	}
	if boots := r == role.Master && l.plan.Images[spec.IronicImage] != ""; len(files) != 3 && !boots || boots && len(files) != 4 {
		l.t.Fatal("there is no manifest of keepalived, or of what answers hosts that boot")
	}
	if err := n.Write(files...); err != nil {
		l.t.Fatal(err)
	}
	var labels []string
	if r == role.Master {
		labels = []string{l.plan.ControlPlaneLabel}
	}
	l.api.Register(name, labels, address)
	if r == role.Master {
		l.nodes = append(l.nodes, n)
	}
	return n
}

// control makes and starts the three nodes of a control plane whose balancers serve, with whoever
// looks from outside at who holds the API VIP.
func (l *lan) control() *lab.Observer {
	l.t.Helper()
	var hosts []*lab.Host
	for i := range 3 {
		hosts = append(hosts, l.node(i+1, role.Master).Host)
	}
	observer, err := lab.Observe(netip.MustParseAddr(apiVIP), 5*time.Millisecond, hosts...)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { observer.Stop() })
	for _, n := range l.nodes {
		n.end()
		n.start()
		n.balancer.Store(&balancer{up: true, check: "L7OK"})
	}
	return observer
}

// serve runs the FAKE balancer, and puts the real redirect in place.
func (n *node) serve() {
	n.l.t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/haproxy_ready", func(w http.ResponseWriter, _ *http.Request) {
		if !n.balancer.Load().up {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/haproxy_stats;csv", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# pxname,svname,scur,status,lastchg,type,check_status,check_code,addr\nmasters,m1,0,UP,3,2,%s,200,192.0.2.11:6443\n", n.balancer.Load().check)
	})
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		if !n.router.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	n.answers = mux
	n.listen("127.0.0.1:9444")
	n.listen("127.0.0.1:1936")
	n.stats = n.listen(statsAt)
	if err := n.redirect(); err != nil {
		n.l.t.Fatal(err)
	}
}

// statsAt is where a balancer serves its statistics.
const statsAt = "127.0.0.1:29445"

// listen answers at an address of the node's own.
func (n *node) listen(address string) *http.Server {
	n.l.t.Helper()
	listener, err := n.Host.Listen(address)
	if err != nil {
		n.l.t.Fatal(err)
	}
	server := &http.Server{Handler: n.answers}
	go func() { _ = server.Serve(listener) }() // it ends with the test
	n.l.t.Cleanup(func() { _ = server.Close() })
	return server
}

func (n *node) redirect() error {
	return n.Host.Do(func() error {
		_, err := nft.Ensure(redirect.Of(n.l.plan.VIPs.API, n.l.plan.MachineNetworks, n.l.plan.Ports))
		return err
	})
}

func (n *node) start() {
	n.l.t.Helper()
	ctx, cancel := context.WithTimeout(n.l.t.Context(), time.Minute)
	defer cancel()
	if err := n.Start(ctx); err != nil {
		n.l.t.Fatalf("%v\n%s", err, n.Log("keepalived/install-supervise"))
	}
}

// end stops the pod with the test.
func (n *node) end() {
	n.l.t.Cleanup(func() {
		if n.l.t.Failed() {
			for _, container := range []string{"keepalived/keepalived-monitor", "keepalived/keepalived", "provisioning/dnsmasq-monitor",
				"provisioning/dnsmasq"} {
				n.l.t.Logf("%s/%s says:\n%s", n.Host.Name, container, n.Log(container))
			}
		}
		if err := n.Stop(); err != nil {
			n.l.t.Error(err)
		}
	})
}

func (n *node) status() supervised.Status {
	text, err := os.ReadFile(filepath.Join(n.Root, runDir, supervised.StatusFile))
	if err != nil {
		return supervised.Status{}
	}
	status, err := supervised.Decode(text)
	if err != nil {
		n.l.t.Fatal(err)
	}
	return status
}

// proposed is the configuration that the monitor wants.
func (n *node) proposed() string {
	text, err := os.ReadFile(filepath.Join(n.Root, runDir, supervised.CandidateText))
	if err != nil {
		return ""
	}
	return string(text)
}

func (n *node) priority() int { return n.status().Instances["ostest_API_0"].Priority }

// signal reaches a container's program.
func (n *node) signal(container string, sig syscall.Signal) {
	n.l.t.Helper()
	if err := n.Signal("keepalived/"+container, sig); err != nil {
		n.l.t.Fatal(err)
	}
}

// restart kills a container's program, and waits until another one runs and has logged: it handles
// signals by then. Its number alone does not tell, as the former one's is known until runc runs again.
func (n *node) restart(container string) {
	n.l.t.Helper()
	name := "keepalived/" + container
	before, err := n.PID(name)
	if err != nil {
		n.l.t.Fatal(err)
	}
	logged := len(n.Log(name))
	n.signal(container, syscall.SIGKILL)
	n.l.until(n.Host.Name+" has another "+container, 30*time.Second, func() bool {
		_, run, _ := strings.Cut(n.Log(name)[logged:], "-- ended: ")
		pid, err := n.PID(name)
		return err == nil && pid != before && strings.Contains(run, " room=") // what the file of the cluster lacks is printed sooner
	})
}

// resident is how much memory a container's program has.
func (n *node) resident(container string) string {
	pid, err := n.PID("keepalived/" + container)
	if err != nil {
		return err.Error()
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return err.Error()
	}
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line)
}

// well asks the pod's programs as kubelet does.
func (n *node) well() error {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DialContext: n.Host.Dial, DisableKeepAlives: true}}
	for _, name := range []string{port.MonitorVIP, port.Supervise} {
		reply, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/healthz", n.l.plan.Ports[name]))
		if err != nil {
			return err
		}
		text, err := io.ReadAll(reply.Body)
		_ = reply.Body.Close() // read to its end
		if err != nil || reply.StatusCode != http.StatusOK {
			return fmt.Errorf("%s on %s: %s %s %v", name, n.Host.Name, reply.Status, text, err)
		}
	}
	return nil
}
