package podvip

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// full is what a node announces whose balancer works and that has no machine config server: 40 + 20
// + 5.
const full = 65

// TestNodes is three control plane nodes from their first start to a total outage. While no API
// server has passed a check of a balancer nobody stands for the API VIP, whatever HAProxy believes;
// then one of them has it. It stays there when a monitor is killed, when all of them stand still at
// once, and it follows the balancer's health while the API is away. After a reboot of all nodes in
// an outage of everything it has a home again.
func TestNodes(t *testing.T) {
	t.Parallel() // each has a network of its own, and waits most of the time
	l := open(t, vrrp.ProfileCompat)
	var hosts []*lab.Host
	for i := range 3 {
		hosts = append(hosts, l.node(i+1, role.Master).Host)
	}
	worker := l.node(4, role.Worker)
	observer, err := lab.Observe(netip.MustParseAddr(apiVIP), 10*time.Millisecond, hosts...)
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Stop()
	ingress, err := lab.Observe(netip.MustParseAddr("192.0.2.6"), 10*time.Millisecond, append(hosts, worker.Host)...)
	if err != nil {
		t.Fatal(err)
	}
	defer ingress.Stop()
	for _, n := range append(l.nodes, worker) {
		n.end()
		n.start()
	}
	gateClosed(t, l, observer)
	routers(t, l, ingress, worker)
	holder := gateOpens(t, l, observer)
	monitorsEnd(t, l, observer, holder)
	apiAway(t, l, observer, holder)
	outage(t, l, observer)
}

func gateClosed(t *testing.T, l *lan, observer *lab.Observer) {
	t.Helper()
	for _, n := range l.nodes {
		l.until(n.Host.Name+" stands for the ingress VIP", 30*time.Second, func() bool { return strings.Contains(n.proposed(), "ostest_INGRESS_0") })
	}
	time.Sleep(6 * time.Second) // a master-down time and the balancer's check
	for _, n := range l.nodes {
		if strings.Contains(n.proposed(), "ostest_API_0") {
			t.Errorf("%s stands for the API VIP before the API worked", n.Host.Name)
		}
	}
	if holders := observer.Holders(); len(holders) > 0 {
		t.Errorf("the API VIP is held by %v before the API worked", holders)
	}
}

// routers holds K-51 and K-50 in the pods: where no router answers, nobody has the ingress VIP, and
// that is nobody's fault; it comes to the worker with one, which stands for no other VIP, and
// leaves it with the router.
func routers(t *testing.T, l *lan, ingress *lab.Observer, worker *node) {
	t.Helper()
	for _, n := range append(l.nodes, worker) {
		if err := n.well(); err != nil {
			t.Errorf("no router, and kubelet would end the pod: %v", err)
		}
	}
	if holders := ingress.Holders(); len(holders) > 0 {
		t.Errorf("no router, and the ingress VIP is held by %v", holders)
	}
	if text := worker.proposed(); strings.Contains(text, "_API_") || !strings.Contains(text, "192.0.2.11") {
		t.Errorf("the worker's configuration is\n%s", text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	worker.router.Store(true)
	if _, err := ingress.Wait(ctx, worker.Host.Name); err != nil {
		t.Fatalf("the worker has a router: %v", err)
	}
	worker.router.Store(false)
	if _, err := ingress.Wait(ctx); err != nil {
		t.Fatalf("the router is gone: %v", err)
	}
}

func gateOpens(t *testing.T, l *lan, observer *lab.Observer) *node {
	t.Helper()
	for _, n := range l.nodes {
		n.balancer.Store(&balancer{up: true, check: "L7OK"})
	}
	l.until("somebody holds the VIP", 20*time.Second, func() bool { return len(observer.Holders()) == 1 })
	for _, n := range l.nodes {
		l.until(n.Host.Name+" announces its health", 20*time.Second, func() bool { return n.priority() == full })
	}
	time.Sleep(2 * time.Second) // whoever has the higher address may have preempted
	holders := observer.Holders()
	if len(holders) != 1 {
		t.Fatalf("held by %v", holders)
	}
	return l.nodes[slices.IndexFunc(l.nodes, func(n *node) bool { return n.Host.Name == holders[0] })]
}

// monitorsEnd also holds W-14: a dead monitor costs the node its bonuses and never makes a fault.
func monitorsEnd(t *testing.T, l *lan, observer *lab.Observer, holder *node) {
	t.Helper()
	before := len(observer.Report().Spans)
	holder.restart("keepalived-monitor")
	time.Sleep(5 * time.Second) // a move would come within it
	for _, n := range l.nodes {
		n.signal("keepalived-monitor", syscall.SIGSTOP)
	}
	for _, n := range l.nodes {
		l.until(n.Host.Name+" has a silent monitor", 20*time.Second, func() bool { return n.status().MonitorStale && n.priority() == 40 })
	}
	time.Sleep(5 * time.Second) // more than a master-down time
	for _, n := range l.nodes {
		n.signal("keepalived-monitor", syscall.SIGCONT)
	}
	for _, n := range l.nodes {
		l.until(n.Host.Name+" has its health again", 20*time.Second, func() bool { return n.priority() == full })
	}
	for _, n := range l.nodes {
		t.Logf("%s: the monitor has %s in memory", n.Host.Name, n.resident("keepalived-monitor"))
	}
	if spans := observer.Report().Spans; len(spans) != before {
		t.Errorf("the VIP moved: %+v", spans[before-1:])
	}
}

// apiAway holds K-25 and K-23: with the API away the balancer's end still costs the node its
// priority within a check period, and nobody's peers change.
func apiAway(t *testing.T, l *lan, observer *lab.Observer, holder *node) {
	t.Helper()
	proposals := map[*node]string{}
	for _, n := range l.nodes {
		proposals[n] = n.proposed()
	}
	l.api.Down()
	time.Sleep(2 * time.Second) // the outage is older than a look at the API
	holder.balancer.Store(&balancer{check: "L4CON"})
	took := l.until("the priority falls", 10*time.Second, func() bool { return holder.priority() == 40 })
	l.until("another node holds the VIP", 10*time.Second, func() bool {
		holders := observer.Holders()
		return len(holders) == 1 && holders[0] != holder.Host.Name
	})
	t.Logf("the balancer died, the API was away: the priority fell after %v", took.Round(100*time.Millisecond))
	for _, n := range l.nodes {
		if n.proposed() != proposals[n] {
			t.Errorf("%s has another configuration while the API is away:\n%s", n.Host.Name, n.proposed())
		}
	}
}

// outage reboots every node while there is neither an API nor a balancer.
func outage(t *testing.T, l *lan, observer *lab.Observer) {
	t.Helper()
	for _, n := range l.nodes {
		n.balancer.Store(&balancer{check: "L4CON"})
		if err := n.Off(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := observer.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	for _, n := range l.nodes {
		if err := n.Host.On(); err != nil {
			t.Fatal(err)
		}
		n.start()
	}
	took := l.until("the VIP has a home in a total outage", 40*time.Second, func() bool { return len(observer.Holders()) == 1 })
	t.Logf("the VIP has a home %v after the boot", took.Round(100*time.Millisecond))
	if n := l.nodes[0]; !strings.Contains(n.proposed(), "ostest_API_0") {
		t.Errorf("%s: the gate was forgotten", n.Host.Name)
	}
}
