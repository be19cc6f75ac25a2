package poddns

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/query"
)

const (
	// inForce is how soon a client must see another address of a node, and another name server.
	inForce = 2 * time.Second
	// eventually bounds what a test waits for that is not about time.
	eventually = 30 * time.Second
)

// TestChanges makes twenty changes, of a node's address and of the name server in turn, under 500
// queries a second. Nothing is lost, the median change is in force within two seconds, and each one
// within ten, as a busy machine may be late for some.
func TestChanges(t *testing.T) {
	c := open(t)
	first, second := c.upstream("192.0.2.91"), c.upstream("192.0.2.92")
	c.api.Register("master-0", control, "192.0.2.10")
	n := c.node("master-0", role.Master, "192.0.2.10", "nameserver 192.0.2.91\n")
	n.soon("master-0."+zone, dns.TypeA, "192.0.2.10", 15*time.Second)
	const rounds = 10
	moves := []string{}
	for i := range rounds {
		moves = append(moves, fmt.Sprintf("192.0.2.%d", 100+i))
	}
	c.api.Register("worker-0", nil, moves[0])
	n.soon("worker-0."+zone, dns.TypeA, moves[0], 5*time.Second)
	before, err := query.Dropped(n.Host)
	if err != nil {
		t.Fatal(err)
	}
	load, err := query.Start(c.api.Host, "192.0.2.10:53", 500, func(i int) query.Question {
		switch i % 3 {
		case 0:
			return query.Question{Name: "api-int." + zone, Type: dns.TypeA, Want: []string{apiVIP}}
		case 1:
			return query.Question{Name: "worker-0." + zone, Type: dns.TypeA, Want: moves}
		}
		return query.Question{Name: fmt.Sprintf("n%d.forwarded.example.", i), Type: dns.TypeTXT, Want: []string{first.address, second.address}}
	})
	if err != nil {
		t.Fatal(err)
	}
	var node, upstream []time.Duration
	for i := range rounds {
		c.api.Register("worker-0", nil, moves[(i+1)%rounds])
		node = append(node, n.soon("worker-0."+zone, dns.TypeA, moves[(i+1)%rounds], 10*time.Second))
		to := []string{first.address, second.address}[(i+1)%2]
		n.resolver("nameserver " + to + "\n")
		k := 0
		upstream = append(upstream, c.until("another name server", 10*time.Second, func() bool {
			k++
			return n.ask(fmt.Sprintf("c%d-%d.forwarded.example.", i, k), dns.TypeTXT) == to
		}))
	}
	outcome, err := load.Stop()
	if err != nil {
		t.Fatal(err)
	}
	after, err := query.Dropped(n.Host)
	if err != nil {
		t.Fatal(err)
	}
	outcome.Dropped = after - before
	t.Logf("%d queries, %d changes of a node's address and as many of the name server: %d lost, %d dropped by the kernel, the slowest %v; in force after %v and %v, at most %v and %v",
		len(outcome.Answers), rounds, outcome.Lost(), outcome.Dropped, outcome.Slowest().Round(time.Millisecond), median(node), median(upstream), slices.Max(node), slices.Max(upstream))
	if err := outcome.Err(); err != nil || median(node) > inForce || median(upstream) > inForce {
		t.Errorf("%v; in force after %v and %v, want %v at most", err, median(node), median(upstream), inForce)
	}
}

// median is the upper one of the two in the middle.
func median(all []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)/2].Round(time.Millisecond)
}

// TestNodeLife goes through what a master's DNS meets: a start with no Node known, nodes of both
// families, an API that is away, a restart meanwhile, and the ends of either container.
func TestNodeLife(t *testing.T) {
	c := open(t)
	c.upstream("192.0.2.91")
	c.api.Down()
	n := c.node("master-0", role.Master, "192.0.2.10", "# nothing yet\n")
	// D-02: without a name server, and D-16: without a Node, the cluster's own names are answered,
	// and the rest fails at once.
	n.soon("api."+zone, dns.TypeA, apiVIP, 10*time.Second)
	if got := n.ask("x.forwarded.example.", dns.TypeTXT); got != "SERVFAIL" {
		t.Errorf("without a name server a name outside is %s", got)
	}
	if got := n.ask("master-0."+zone, dns.TypeA); got != "SERVFAIL" {
		t.Errorf("without a Node a node's name is %s", got)
	}
	n.clean()
	c.api.Up()
	c.api.Register("master-0", control, "192.0.2.10", "2001:db8::10")
	c.api.Register("worker-0.example.com", nil, "192.0.2.20")
	n.soon("master-0."+zone, dns.TypeAAAA, "2001:db8::10", 10*time.Second)
	n.resolver("nameserver 192.0.2.91\n")
	n.soon("x.forwarded.example.", dns.TypeTXT, "192.0.2.91", eventually)
	known := map[string]string{
		"master-0." + zone: "192.0.2.10", "worker-0." + zone: "192.0.2.20", "worker-0.": "192.0.2.20", "api-int." + zone: apiVIP, "x.apps." + zone: "192.0.2.6",
		"worker-1." + zone: "NXDOMAIN", "xapi." + zone: "NXDOMAIN",
	}
	check := func(when string) {
		t.Helper()
		for name, want := range known {
			if got := n.ask(name, dns.TypeA); got != want {
				t.Errorf("%s: %s is %s, want %s", when, name, got, want)
			}
		}
		if got := n.ask("20.2.0.192.in-addr.arpa.", dns.TypePTR); got != "worker-0." {
			t.Errorf("%s: the name of 192.0.2.20 is %s", when, got)
		}
		if got := n.ask("worker-0."+zone, dns.TypeAAAA); got != "NOERROR" {
			t.Errorf("%s: a family that a node lacks: %s", when, got)
		}
	}
	check("all is well")
	n.healthy()
	n.apart()

	c.api.Down()
	check("the API is away")
	if err := n.Stop(); err != nil {
		t.Fatal(err)
	}
	n.start()
	n.soon("worker-0."+zone, dns.TypeA, "192.0.2.20", 10*time.Second)
	check("and the pod was started anew")
	c.api.Up()

	// CoreDNS answers by its files before the monitor's container runs.
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := n.Signal("coredns/coredns-monitor", syscall.SIGKILL)
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	check("the monitor was killed")
	if err := n.Signal("coredns/coredns", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	n.resolver("nameserver 192.0.2.92\n")
	c.upstream("192.0.2.92")
	n.soon("y.forwarded.example.", dns.TypeTXT, "192.0.2.92", 15*time.Second)
	check("CoreDNS was killed")
	if err := c.api.Call(http.MethodDelete, "/api/v1/nodes/worker-0.example.com", nil); err != nil {
		t.Fatal(err)
	}
	t.Logf("a removed node is forgotten after %v", n.soon("worker-0."+zone, dns.TypeA, "NXDOMAIN", 15*time.Second))
}

// clean fails for every line of CoreDNS's log that is more than information.
func (n *node) clean() {
	n.c.t.Helper()
	for line := range strings.Lines(n.Log("coredns/coredns")) {
		if regexp.MustCompile(`(?i)\[(WARNING|ERROR|FATAL)\]|panic`).MatchString(line) {
			n.c.t.Errorf("CoreDNS complains: %s", line)
		}
	}
}

// healthy holds that kubelet's probes are answered.
func (n *node) healthy() {
	n.c.t.Helper()
	for _, url := range []string{"http://127.0.0.1:9457/healthz", "http://" + n.address + ":18080/health"} {
		client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DialContext: n.Host.Dial, DisableKeepAlives: true}}
		reply, err := client.Get(url)
		if err != nil || reply.StatusCode != http.StatusOK {
			n.c.t.Errorf("GET %s: %v %v", url, reply, err)
			continue
		}
		reply.Body.Close()
	}
}

// apart holds that who has taken CoreDNS over does not have kubelet's credentials with it. The two
// containers see each other's processes, and the kernel shows a process all that another one of its
// user sees which has no capability that it lacks itself.
func (n *node) apart() {
	n.c.t.Helper()
	setpriv := need.Command(n.c.t, "setpriv")
	pid, err := n.PID("coredns/coredns-monitor")
	if err != nil {
		n.c.t.Fatal(err)
	}
	reads := func(container string) bool {
		has := n.capabilities(container)
		return exec.CommandContext(n.c.t.Context(), setpriv, "--bounding-set", has, "--inh-caps", has, "--no-new-privs",
			"cat", fmt.Sprintf("/proc/%d/root/var/lib/kubelet/kubeconfig", pid)).Run() == nil
	}
	if !reads("coredns-monitor") {
		n.c.t.Fatal("the monitor itself cannot read its credentials: this test shows nothing")
	}
	if reads("coredns") {
		n.c.t.Error("CoreDNS can read kubelet's credentials")
	}
}

// capabilities are those that a container's first process has, in setpriv's words.
func (n *node) capabilities(container string) string {
	n.c.t.Helper()
	pid, err := n.PID("coredns/" + container)
	if err != nil {
		n.c.t.Fatal(err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		n.c.t.Fatal(err)
	}
	_, mask, _ := strings.Cut(string(status), "\nCapPrm:\t")
	mask, _, _ = strings.Cut(mask, "\n")
	bits, err := strconv.ParseUint(mask, 16, 64)
	if err != nil {
		n.c.t.Fatal(err)
	}
	words := "-all"
	for bit := range 64 {
		if bits>>bit&1 == 1 {
			words += fmt.Sprintf(",+cap_%d", bit)
		}
	}
	return words
}

// TestWorkerAsksMasters holds that a worker, which follows control plane nodes alone, knows the
// others by asking those; that no question goes round; and that it goes on without them.
func TestWorkerAsksMasters(t *testing.T) {
	c := open(t)
	u := c.upstream("192.0.2.91")
	c.api.Register("master-0", control, "192.0.2.10")
	c.api.Register("master-1", control, "192.0.2.11")
	c.api.Register("worker-0", nil, "192.0.2.20")
	c.api.Register("worker-1", nil, "192.0.2.21")
	// Each names the other as a name server, by mistake or by an older setting.
	m0 := c.node("master-0", role.Master, "192.0.2.10", "nameserver 192.0.2.20\nnameserver 192.0.2.11\nnameserver 192.0.2.91\n")
	m1 := c.node("master-1", role.Master, "192.0.2.11", "nameserver 192.0.2.10\nnameserver 192.0.2.91\n")
	w := c.node("worker-0", role.Worker, "192.0.2.20", "nameserver 192.0.2.11\nnameserver 192.0.2.91\n")
	m0.soon("worker-1."+zone, dns.TypeA, "192.0.2.21", 15*time.Second)
	m1.soon("worker-1."+zone, dns.TypeA, "192.0.2.21", 15*time.Second)
	w.soon("worker-1."+zone, dns.TypeA, "192.0.2.21", 15*time.Second)
	// Until the worker knows who the masters are it asks one of them as an ordinary name server,
	// and has the answer above already.
	c.until("the masters in the worker's hosts", eventually, func() bool { return strings.Contains(w.file("etc/coredns/hosts"), "master-1") })
	if text := w.file("etc/coredns/hosts"); strings.Contains(text, "worker-1") {
		t.Errorf("the worker's hosts:\n%s", text)
	}
	_, file := corefile.Digest([]byte(w.file("etc/coredns/Corefile")))
	w.soon(string(corefile.Running)+".", dns.TypeTXT, file, eventually)
	c.until("one question behind for one in front", eventually, func() bool {
		for range len(u.asked) {
			<-u.asked
		}
		if got := w.ask("nobody."+zone, dns.TypeA); got != "NXDOMAIN" {
			t.Errorf("a name that nobody knows: %s", got)
		}
		return len(u.asked) == 1
	})
	c.api.Register("worker-1", nil, "192.0.2.77")
	t.Logf("another node's address on a worker after %v", w.soon("worker-1."+zone, dns.TypeA, "192.0.2.77", eventually))
	if err := m0.Off(); err != nil {
		t.Fatal(err)
	}
	t.Logf("with the first master's power cut, a node's name after %v", w.soon("worker-1."+zone, dns.TypeA, "192.0.2.77", 10*time.Second))
	if err := m1.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Logf("without masters, the name server behind answers after %v", w.soon("worker-1."+zone, dns.TypeA, "NXDOMAIN", 15*time.Second))
	if got := w.ask("api-int."+zone, dns.TypeA); got != apiVIP {
		t.Errorf("api-int is %s", got)
	}
	if got := w.ask("master-0."+zone, dns.TypeA); got != "192.0.2.10" {
		t.Errorf("master-0 is %s", got)
	}
}

// TestQueriesGoRound has a control plane node and a worker ask each other while the name server of
// both is away: a query that goes round ends, as does the load by it.
func TestQueriesGoRound(t *testing.T) {
	c := open(t)
	c.api.Register("master-0", control, "192.0.2.10")
	c.api.Register("worker-0", nil, "192.0.2.20")
	m := c.node("master-0", role.Master, "192.0.2.10", "nameserver 192.0.2.20\nnameserver 192.0.2.99\n")
	w := c.node("worker-0", role.Worker, "192.0.2.20", "nameserver 192.0.2.99\n")
	for _, n := range []*node{m, w} {
		c.until("master-0 in the hosts of "+n.Host.Name, eventually, func() bool { return strings.Contains(n.file("etc/coredns/hosts"), "master-0") })
		_, file := corefile.Digest([]byte(n.file("etc/coredns/Corefile")))
		n.soon(string(corefile.Running)+".", dns.TypeTXT, file, eventually)
	}
	// CoreDNS tries the name server first until its health check finds that it does not answer.
	const around = 1000
	idle := m.received()
	c.until("a query that goes round", eventually, func() bool {
		m.ask("nobody."+zone, dns.TypeA)
		return m.received() > idle+around
	})
	t.Logf("the last query was on its way for %v", c.until("its end", eventually, func() bool {
		before := m.received()
		time.Sleep(time.Second) // a query that goes round is received some thousand times meanwhile
		return m.received() < before+around/10
	}))
}

// received is how many packets the node's interfaces have received.
func (n *node) received() (packets int) {
	n.c.t.Helper()
	var text []byte
	err := n.Host.Do(func() (err error) {
		text, err = os.ReadFile("/proc/thread-self/net/dev")
		return err
	})
	for line := range strings.Lines(string(text)) {
		if name, counters, ok := strings.Cut(line, ":"); ok && err == nil && strings.TrimSpace(name) != "lo" {
			var bytes, some int
			_, err = fmt.Sscan(counters, &bytes, &some)
			packets += some
		}
	}
	if err != nil {
		n.c.t.Fatal(err)
	}
	return packets
}
