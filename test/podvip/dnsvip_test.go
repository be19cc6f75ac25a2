package podvip

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

const dnsVIP = "192.0.2.7"

// TestDNSVIP is a bootstrap machine, which has the DNS VIP first, and three control plane nodes
// with real CoreDNS on two of them. They leave it alone until they have seen the API work. When the
// bootstrap machine has gone one of the two has it, and the other one takes it when CoreDNS ends on
// the first. Nobody ever has it beside another.
func TestDNSVIP(t *testing.T) {
	t.Parallel() // it waits most of the time
	l := open(t, vrrp.ProfileLan)
	p, err := plan.Compile(spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: vrrp.ProfileLan,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, DNSVIP: netip.MustParseAddr(dnsVIP),
		APIVIPs: []netip.Addr{netip.MustParseAddr(apiVIP)}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")}, Images: l.plan.Images,
	})
	if err != nil {
		t.Fatal(err)
	}
	l.plan = p
	before := l.bootstrap()
	hosts := []*lab.Host{}
	for i := range 3 {
		hosts = append(hosts, l.node(i+1, role.Master).Host)
	}
	stop := map[string]func(){hosts[0].Name: l.coredns(hosts[0]), hosts[1].Name: l.coredns(hosts[1])}
	observer, err := lab.Observe(netip.MustParseAddr(dnsVIP), 5*time.Millisecond, append(hosts, before.Host)...)
	if err != nil {
		t.Fatal(err)
	}
	first := func() bool { return slices.Equal(observer.Holders(), []string{before.Host.Name}) }
	before.end()
	before.start()
	l.until("the bootstrap machine has the DNS VIP", time.Minute, first)
	for _, n := range l.nodes {
		n.end()
		n.start()
	}
	for _, n := range l.nodes {
		l.until(n.Host.Name+" stands for the ingress VIP", 30*time.Second, func() bool { _, there := n.status().Instances["ostest_INGRESS_0"]; return there })
	}
	if !first() {
		t.Errorf("nodes that have not seen the API work run, and %v have the DNS VIP", observer.Holders())
	}
	if err := before.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, n := range l.nodes {
		n.balancer.Store(&balancer{up: true, check: "L7OK"})
	}
	well := func() bool {
		holders := observer.Holders()
		return len(holders) == 1 && stop[holders[0]] != nil
	}
	l.until("a node whose name server answers has the DNS VIP", time.Minute, well)
	for _, n := range l.nodes[:2] {
		l.until(n.Host.Name+" announces that its name server answers", 30*time.Second, func() bool { return n.status().Instances["ostest_DNS_0"].Priority > 120 })
	}
	l.until("it has it still", 10*time.Second, well)
	holder := observer.Holders()[0]
	stop[holder]()
	took := l.until("the other one has it", time.Minute, func() bool {
		holders := observer.Holders()
		return len(holders) == 1 && stop[holders[0]] != nil && holders[0] != holder
	})
	t.Logf("the DNS VIP has moved %v after CoreDNS had ended", took.Round(10*time.Millisecond))
	// Two may hold it from when the better one takes it until the other one has heard of that.
	for _, double := range observer.Stop().Doubles() {
		if double.Length() > 250*time.Millisecond {
			t.Errorf("%v hold it for %v", double.Holders, double.Length())
		}
	}
}

// coredns runs stock CoreDNS with the cluster's records on a host. The function that it returns
// ends it.
func (l *lan) coredns(host *lab.Host) (stop func()) {
	l.t.Helper()
	program, err := cache.CoreDNS(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	file := filepath.Join(l.dir, host.Name+".Corefile")
	if err := os.WriteFile(file, corefile.Render(corefile.Config{Zone: l.plan.Cluster.Zone, Records: l.plan.Records}), 0o644); err != nil {
		l.t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.WithoutCancel(l.t.Context()))
	cmd := host.Command(ctx, program, "-conf", file)
	if err := cmd.Start(); err != nil {
		end()
		l.t.Fatal(err)
	}
	stop = func() {
		end()
		_ = cmd.Wait() // it was killed
	}
	l.t.Cleanup(stop)
	return stop
}
