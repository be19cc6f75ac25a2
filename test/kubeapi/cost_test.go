package kubeapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

const (
	// follows names the role and the kubeconfig of a process that only watches the objects of a
	// monitor.
	follows = "ONPREM_INFRA_TEST_FOLLOWS"
	long    = "ONPREM_INFRA_LONG"
)

// TestFollower is no test: it is the process whose memory TestLongCost measures.
func TestFollower(t *testing.T) {
	role, kubeconfig, ok := strings.Cut(os.Getenv(follows), " ")
	if !ok {
		t.Skip("is run by TestLongCost")
	}
	m := newMonitor(t, kubeconfig, role == "master")
	eventually(t, "all is known", m, func() bool {
		_, _, known := m.object.Data()
		if role == "master" {
			_, synced := m.all.Known()
			_, routers := m.routers.Ready()
			return known && synced && routers
		}
		_, synced := m.masters.Known()
		return known && synced
	})
	fmt.Println("follows")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent closes it
}

// follower is a process that watches the objects of a monitor of a role.
type follower struct {
	role  string
	user  string
	meter *meter
	cmd   *exec.Cmd
}

func follow(t *testing.T, c *Cluster, s *Server, role, node string) *follower {
	t.Helper()
	f := &follower{role: role, user: "system:node:" + node, meter: newMeter(t, s.Address.String())}
	id, err := c.Sign(Node(node))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := c.WriteKubelet(dir, dir, f.meter.url(), id); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f.cmd = exec.Command(self, "-test.run=^TestFollower$", "-test.timeout=20m")
	f.cmd.Env = append(os.Environ(), follows+"="+role+" "+dir+"/kubeconfig")
	in, err := f.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = f.cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "follows\n" {
		t.Fatalf("the %s says %q (%v)", role, line, err)
	}
	return f
}

// memory is the memory of a process by the kernel, in kB: now and at most so far.
func (f *follower) memory(t *testing.T) (now, most int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fmt.Sscanf(line, "VmRSS: %d kB", &now)
		fmt.Sscanf(line, "VmHWM: %d kB", &most)
	}
	return now, most
}

// crowd sends many requests in a short time.
type crowd struct {
	t      *testing.T
	client *Client
}

// each runs f for every number below n, some at a time.
func (c crowd) each(n int, f func(i int) error) {
	c.t.Helper()
	work, fault := make(chan int), make(chan error, 1)
	var running sync.WaitGroup
	for range 4 * runtime.NumCPU() {
		running.Go(func() {
			for i := range work {
				if err := f(i); err != nil {
					select {
					case fault <- err:
					default:
					}
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	running.Wait()
	select {
	case err := <-fault:
		c.t.Fatal(err)
	default:
	}
}

// grown is a Node as in a cluster that has run for a while: with 50 images, conditions, annotations
// and managed fields.
func grown(i int) *corev1.Node {
	n := aNode(fmt.Sprintf("worker-%04d", i), fmt.Sprintf("10.0.%d.%d", i/250, 1+i%250), map[string]string{
		"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "", "node.openshift.io/os_id": "rhcos"})
	if i < 3 {
		n.Name = fmt.Sprintf("master-%d", i)
		n.Labels[label] = ""
	}
	n.Annotations = map[string]string{"k8s.ovn.org/host-cidrs": fmt.Sprintf(`["10.0.%d.%d/16"]`, i/250, 1+i%250), "k8s.ovn.org/node-chassis-id": strings.Repeat("0123456789abcdef", 4),
		"machineconfiguration.openshift.io/lastAppliedDrain": strings.Repeat("uncordon-rendered-worker-", 8), "csi.volume.kubernetes.io/nodeid": strings.Repeat(`{"driver":"id"}`, 10)}
	for j := range 50 {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{SizeBytes: int64(j) << 20, Names: []string{
			fmt.Sprintf("quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:%064x", j*7919+i%7), fmt.Sprintf("<none>:%064x", j)}})
	}
	for _, kind := range []corev1.NodeConditionType{"MemoryPressure", "DiskPressure", "PIDPressure"} {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: kind, Status: corev1.ConditionFalse, Reason: "KubeletHas" + string(kind), Message: "kubelet has no " + string(kind), LastHeartbeatTime: metav1.Now()})
	}
	return n
}

// beats renews the heartbeats of n Nodes, each every five minutes as kubelets do, until ctx ends.
func (c crowd) beats(ctx context.Context, n int) {
	const every = 5 * time.Minute
	tick := time.NewTicker(every / time.Duration(n))
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		node := grown(i % n)
		patch := map[string]any{"status": map[string]any{"conditions": node.Status.Conditions}}
		if err := c.client.Do(ctx, http.MethodPatch, "/api/v1/nodes/"+node.Name+"/status", patch, nil); err != nil && ctx.Err() == nil {
			c.t.Errorf("a heartbeat: %v", err)
		}
	}
}

// cost is a line of the table.
type cost struct {
	Role      string         `json:"role"`
	Nodes     int            `json:"nodes"`
	Requests  map[string]int `json:"requests"`   // of the minute, by verb
	SentBytes int64          `json:"sent_bytes"` // of the minute, by the client
	ReadBytes int64          `json:"read_bytes"` // of the minute, from the API
	First     int64          `json:"first_bytes"`
	RSS       int            `json:"rss_kb"`
	MostRSS   int            `json:"most_rss_kb"`
}

// TestLongCost measures the cost of a monitor in a minute in which nothing changes but the
// heartbeats of Nodes.
func TestLongCost(t *testing.T) {
	if os.Getenv(long) != "1" {
		t.Skipf("takes minutes: %s=1 asks for it", long)
	}
	c, s := Local(t, Server{Audit: true})
	kept := s.client.http.Transport.(*http.Transport).Clone()
	kept.DisableKeepAlives, kept.MaxIdleConnsPerHost = false, 64
	many := crowd{t, &Client{url: s.URL(), http: &http.Client{Transport: kept}}}
	apply(t, s, Objects(ourPlan)[0], aNamespace(health.RouterNamespace))
	apply(t, s, Objects(ourPlan)[1:]...)
	var listed []notice.Candidate
	have := 0
	costs := map[string]cost{}
	for _, n := range []int{3, 500, 5000} {
		began := time.Now()
		many.each(n-have, func(i int) error {
			return many.client.Do(t.Context(), http.MethodPost, "/api/v1/nodes", grown(have+i), nil)
		})
		t.Logf("%d Nodes made in %v", n-have, time.Since(began))
		for have < n {
			if node := grown(have); len(listed) < notice.MostCandidates {
				listed = append(listed, notice.Candidate{Name: node.Name, Addresses: []netip.Addr{netip.MustParseAddr(node.Status.Addresses[0].Address)}})
			}
			have++
		}
		publish(t, s, listed)
		for _, line := range minute(t, c, s, many, n) {
			costs[fmt.Sprint(line.Role, n)] = line
			text, _ := json.Marshal(line)
			fmt.Println(string(text))
		}
	}
	judge(t, costs)
}

// judge compares the figures with the targets.
func judge(t *testing.T, costs map[string]cost) {
	t.Helper()
	for _, line := range costs {
		if line.Requests["list"] > 0 || line.Requests["get"] > 0 || line.Requests["watch"] > 3 {
			t.Errorf("%s at %d Nodes: %v in a steady minute, want no list", line.Role, line.Nodes, line.Requests)
		}
	}
	if few, many := costs["worker3"].RSS, costs["worker5000"].RSS; many > few*110/100 {
		t.Errorf("a worker has %d kB at 3 Nodes and %d kB at 5,000, want 10 %% more at most", few, many)
	}
	if few, many := costs["worker3"].ReadBytes, costs["worker5000"].ReadBytes; many > few+10_000 {
		t.Errorf("a worker reads %d bytes a minute at 3 Nodes and %d at 5,000, want no more", few, many)
	}
	if rss := costs["master5000"].RSS; rss > 60_000 {
		t.Errorf("a master has %d kB at 5,000 Nodes, want 60,000 at most", rss)
	}
}

// minute follows as a worker and as a master for a steady minute.
func minute(t *testing.T, c *Cluster, s *Server, many crowd, n int) []cost {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var beating sync.WaitGroup
	beating.Go(func() { many.beats(ctx, n) })
	defer beating.Wait()
	defer cancel()
	followers := []*follower{follow(t, c, s, "worker", "worker-0003"), follow(t, c, s, "master", "master-0")}
	time.Sleep(10 * time.Second) // until what was read first is forgotten
	type start struct {
		requests   int
		sent, read int64
	}
	var starts []start
	for _, f := range followers {
		starts = append(starts, start{len(requests(t, s, f.user)), f.meter.sent.Load(), f.meter.read.Load()})
	}
	time.Sleep(time.Minute) // the time that is measured
	var lines []cost
	for i, f := range followers {
		line := cost{Role: f.role, Nodes: n, Requests: map[string]int{}, First: starts[i].read}
		line.SentBytes, line.ReadBytes = f.meter.sent.Load()-starts[i].sent, f.meter.read.Load()-starts[i].read
		line.RSS, line.MostRSS = f.memory(t)
		for _, request := range requests(t, s, f.user)[starts[i].requests:] {
			verb, _, _ := strings.Cut(request, " ")
			line.Requests[verb]++
		}
		lines = append(lines, line)
		if err := f.cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
	}
	return lines
}

func requests(t *testing.T, s *Server, user string) []string {
	t.Helper()
	all, err := s.Requests(user)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// publish writes the list of candidates as the first master would.
func publish(t *testing.T, s *Server, list []notice.Candidate) {
	t.Helper()
	text := notice.EncodePublished(notice.Published{Serial: 1, Candidates: list})
	patch := map[string]any{"metadata": map[string]any{"annotations": map[string]string{notice.PublishedKey: text}}}
	if err := s.Admin().Do(t.Context(), http.MethodPatch, "/api/v1/nodes/master-0", patch, nil); err != nil {
		t.Fatal(err)
	}
}
