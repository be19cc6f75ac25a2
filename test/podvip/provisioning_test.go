package podvip

import (
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/pods"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

const (
	provisioningVIP = "172.22.0.3"
	besideAt        = "192.0.2.60"            // of the machine that is no host of the cluster
	group           = "ostest_PROVISIONING_0" // keepalived's name of the instance
)

// hostCard is the card of the n-th host on the provisioning network: nodes are 1 to 3, workers follow.
func hostCard(n int) mac.MAC { return mac.MAC{0x52, 0x54, 0, 0x22, 0, byte(n)} }

const (
	nodes   = 3
	workers = 6
)

// workerCard is the card of the n-th worker.
func workerCard(n int) mac.MAC { return hostCard(nodes + n) }

// accountFile is where the description says that the BMCs' account is.
const accountFile = "account"

// described are the hosts of the cluster as cluster.yaml has them. bmcs has the BMCs of workers that
// exist, which start by BIOS; what is there for the others answers nothing.
func described(bmcs map[string]string) (all []string) {
	host := func(name, role string, card mac.MAC) {
		bmc, more := fmt.Sprintf("ipmi://198.51.100.%d", card[5]), ""
		if bmcs[name] != "" {
			bmc, more = bmcs[name], fmt.Sprintf(", bootMode: legacy, rootDisk: {serialNumber: disk-%s}", name)
		}
		all = append(all, fmt.Sprintf("{name: %s, role: %s, bootMAC: '%s', bmc: {address: '%s', credentials: {file: %s}}%s}", name, role, card, bmc, accountFile, more))
	}
	for n := range nodes {
		host(fmt.Sprintf("m%d", n+1), "master", hostCard(n+1))
	}
	for n := range workers {
		host(fmt.Sprintf("w%d", n+1), "worker", workerCard(n+1))
	}
	return all
}

// site is a cluster whose nodes share an address on a provisioning network of its own, with a
// worker that asks for an address there all the time.
type site struct {
	*lan
	network *lab.Lab
	hosts   []spec.Host       // as described
	ironic  map[string]func() // ends the FAKE Ironic of a node that has one
	worker  *worker
	beside  *lab.Host // a machine that is no host of the cluster; nil for none
}

// withDnsmasq adds an image that has dnsmasq, a shell, the shell's commands and a boot program.
func (l *lan) withDnsmasq(name string) {
	l.t.Helper()
	program := filepath.Join(l.dir, "snponly.efi")
	if err := os.WriteFile(program, []byte("x"), 0o644); err != nil {
		l.t.Fatal(err)
	}
	tree := map[string]string{"usr/lib/ipxe/snponly.efi": program, "etc/passwd": "/etc/passwd", "etc/group": "/etc/group"}
	for path, command := range map[string]string{"usr/sbin/dnsmasq": "dnsmasq", "bin/sh": "sh", "bin/cp": "cp", "bin/mkdir": "mkdir"} {
		file, err := filepath.EvalSymlinks(need.Command(l.t, command))
		if err != nil {
			l.t.Fatal(err)
		}
		linked, err := vm.Linked(l.t.Context(), file)
		if err != nil {
			l.t.Fatal(err)
		}
		maps.Copy(tree, linked)
		tree[path] = file
	}
	l.images[name] = filepath.Join(l.dir, "image-ironic")
	if err := pods.Image(l.images[name], tree); err != nil {
		l.t.Fatal(err)
	}
}

// siteOptions are what sites differ in.
type siteOptions struct {
	// beside is the address on the provisioning network of a machine that is no host of the cluster;
	// empty for no such machine.
	beside       string
	provisioning string            // the section of the description, but network; it begins with a comma
	bmcs         map[string]string // of workers that exist, by name
	images       map[string]string // more images of the plan
	real         bool              // Debian's Ironic is the image of Ironic, with its dnsmasq
}

func openSite(t *testing.T) *site { t.Helper(); return openSiteOf(t, siteOptions{}) }

func openSiteOf(t *testing.T, o siteOptions) *site {
	t.Helper()
	need.Command(t, "dnsmasq")
	l := open(t, vrrp.ProfileLan)
	description := fmt.Sprintf(`{apiVersion: onprem-infra.io/v1alpha1, kind: Cluster, metadata: {name: ostest}, spec: {
  baseDomain: example.com, platform: baremetal, distribution: kubernetes, controlPlaneReplicas: 3, timing: lan,
  machineNetworks: [192.0.2.0/24], apiVIPs: [%s], ingressVIPs: [192.0.2.6],
  provisioning: {network: managed%s},
  hosts: [%s]}}`, apiVIP, o.provisioning, strings.Join(described(o.bmcs), ", "))
	c, findings := spec.Parse("cluster.yaml", []byte(description), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	if err := os.WriteFile(l.dir+"/cluster.yaml", []byte(description), 0o644); err != nil {
		t.Fatal(err)
	}
	c.Images = maps.Clone(l.plan.Images)
	c.Images[spec.IronicImage] = "ironic:1"
	maps.Copy(c.Images, o.images)
	if o.real {
		l.withIronic("ironic:1")
	} else {
		l.withDnsmasq("ironic:1")
	}
	var err error
	if l.plan, err = plan.Compile(c); err != nil {
		t.Fatal(err)
	}
	s := &site{lan: l, network: lab.New(t), hosts: c.Hosts, ironic: map[string]func(){}}
	if o.beside != "" {
		s.beside = l.add("boot", besideAt)
		if err := s.beside.Wire(s.network, "eno2", hostCard(99)); err != nil {
			t.Fatal(err)
		}
		s.run(s.beside, "ip", "address", "add", o.beside, "dev", "eno2")
	}
	for i := range 3 {
		n := l.node(i+1, role.Master)
		if err := n.Host.Wire(s.network, "eno2", hostCard(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	// nothing enables the card of the last node at boot
	if out, err := l.nodes[2].Host.Command(t.Context(), "ip", "link", "set", "eno2", "down").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, n := range l.nodes {
		n.end()
		n.start()
		n.balancer.Store(&balancer{up: true, check: "L7OK"})
	}
	s.worker = s.ask()
	return s
}

// run runs a command on a host that must work.
func (l *lan) run(on *lab.Host, name string, args ...string) {
	l.t.Helper()
	if out, err := on.Command(l.t.Context(), name, args...).CombinedOutput(); err != nil {
		l.t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

// startIronic has a FAKE Ironic answer on a node: only that it answers counts here.
func (s *site) startIronic(on *lab.Host) {
	s.t.Helper()
	listener, err := on.Listen("127.0.0.1:6385")
	if err != nil {
		s.t.Fatal(err)
	}
	fake := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	go func() { _ = fake.Serve(listener) }() // it ends with the test
	s.ironic[on.Name] = func() {
		delete(s.ironic, on.Name)
		_ = fake.Close()
	}
	s.t.Cleanup(func() { _ = fake.Close() })
}

// bound is what the plan states for a failure.
func (s *site) bound(scenario string) time.Duration {
	for _, b := range s.plan.Timing.Bounds {
		if b.Scenario == scenario {
			return time.Duration(b.Ms) * time.Millisecond
		}
	}
	s.t.Fatalf("the plan has no bound %s", scenario)
	return 0
}

// holders watches which nodes have the provisioning address.
func (s *site) holders() *lab.Observer {
	s.t.Helper()
	var hosts []*lab.Host
	for _, n := range s.nodes {
		hosts = append(hosts, n.Host)
	}
	observer, err := lab.Observe(netip.MustParseAddr(provisioningVIP), 5*time.Millisecond, hosts...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { observer.Stop() })
	return observer
}

// holder is the node that alone has the address, or nil.
func (s *site) holder(observer *lab.Observer) *node {
	for _, n := range s.nodes {
		if slices.Equal(observer.Holders(), []string{n.Host.Name}) {
			return n
		}
	}
	return nil
}

// cables sets both links of a node up or down.
func (s *site) cables(of *lab.Host, state string) {
	s.t.Helper()
	for _, card := range []string{"eth0", "eno2"} {
		if out, err := of.Command(s.t.Context(), "ip", "link", "set", card, state).CombinedOutput(); err != nil {
			s.t.Fatalf("%v: %s", err, out)
		}
	}
}

// TestProvisioning is a cluster whose nodes share the provisioning address. No node has it before
// Ironic answers on one, which then answers the worker; when Ironic moves, address and answers
// follow it. All answers are the same, whichever node gives them.
func TestProvisioning(t *testing.T) {
	t.Parallel() // it waits most of the time
	s := openSiteOf(t, siteOptions{provisioning: ", dhcp: {unknown: pool}"})
	unknown := s.askAs(s.plug(s.add("x1", "192.0.2.60"), hostCard(77)), func(a netip.Addr) bool {
		return slices.ContainsFunc(s.plan.Provisioning.DHCP.Pool, func(r subnet.Span) bool { return !a.Less(r.First) && !r.Last.Less(a) })
	})
	observer := s.holders()
	first, second := s.nodes[0].Host, s.nodes[1].Host
	for _, n := range s.nodes {
		s.until(n.Host.Name+" stands for the address", time.Minute, func() bool { _, there := n.status().Instances[group]; return there })
	}
	if !s.worker.last().IsZero() || len(observer.Holders()) > 0 {
		t.Errorf("%v have the address without Ironic, and the worker was answered at %v", observer.Holders(), s.worker.last())
	}
	s.startIronic(first)
	s.until("the worker is answered", time.Minute, func() bool { return !s.worker.last().IsZero() })
	s.until("a machine that is not listed is answered", time.Minute, func() bool { return !unknown.last().IsZero() })
	if got := observer.Holders(); !slices.Equal(got, []string{first.Name}) {
		t.Errorf("Ironic answers on %s, and %v have the address", first.Name, got)
	}
	s.ironic[first.Name]()
	s.until("nobody has the address", time.Minute, func() bool { return len(observer.Holders()) == 0 })
	gone := time.Now()
	time.Sleep(time.Second) // the worker asks several times
	if s.worker.answeredAfter(gone.Add(200 * time.Millisecond)) {
		t.Error("the worker is answered, and no node has the address")
	}
	s.startIronic(second)
	s.until("the worker is answered again", time.Minute, func() bool { return s.worker.answeredAfter(gone.Add(time.Second)) })
	if got := observer.Holders(); !slices.Equal(got, []string{second.Name}) {
		t.Errorf("Ironic answers on %s, and %v have the address", second.Name, got)
	}
	if doubles := observer.Stop().Doubles(); len(doubles) > 0 {
		t.Errorf("two nodes have the address: %v", doubles)
	}
	if wrong := append(s.worker.wrong(), unknown.wrong()...); len(wrong) > 0 {
		t.Errorf("answers that differ: %q", wrong)
	}
	s.until("the machine that is not listed is answered again", time.Minute, func() bool { return unknown.answeredAfter(gone.Add(time.Second)) })
	if given := unknown.addresses(); len(given) != 1 {
		t.Errorf("a machine that is not listed got %v, and each node has the same pool", given)
	}
}

// TestProvisioning_Occupied holds that a machine of another make which has the address keeps it, as
// the bootstrap machine does while it installs the control plane, whether Ironic answers on a node
// or not; and that a node takes it when the machine has left.
func TestProvisioning_Occupied(t *testing.T) {
	t.Parallel() // it waits most of the time
	s := openSiteOf(t, siteOptions{beside: provisioningVIP + "/24"})
	observer := s.holders()
	s.startIronic(s.nodes[0].Host)
	for _, n := range s.nodes {
		s.until(n.Host.Name+" stands for the API VIP", time.Minute, func() bool { _, there := n.status().Instances["ostest_API_0"]; return there })
	}
	time.Sleep(10 * time.Second) // Ironic's check passes, and every node has asked for the address
	for _, n := range s.nodes {
		if _, there := n.status().Instances[group]; there {
			t.Errorf("%s stands for an address that another machine has", n.Host.Name)
		}
	}
	if holders := observer.Holders(); len(holders) > 0 {
		t.Errorf("%v have the address beside another machine", holders)
	}
	if out, err := s.beside.Command(t.Context(), "ip", "address", "flush", "dev", "eno2").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.until("the node with Ironic has it", 3*time.Minute, func() bool { return slices.Equal(observer.Holders(), []string{s.nodes[0].Host.Name}) })
	s.until("the worker is answered", time.Minute, func() bool { return !s.worker.last().IsZero() })
}

// TestLongDHCPSilence measures how long the worker gets no answer: when the holder of the address
// vanishes while Ironic answers on another node too, and when Ironic moves. No answer differs.
func TestLongDHCPSilence(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	const times = 10
	s := openSite(t)
	observer := s.holders()
	holder := func() (*lab.Host, *lab.Host) {
		switch s.holder(observer) {
		case s.nodes[0]:
			return s.nodes[0].Host, s.nodes[1].Host
		case s.nodes[1]:
			return s.nodes[1].Host, s.nodes[0].Host
		}
		return nil, nil
	}
	settled := func() bool {
		h, _ := holder()
		return h != nil && s.worker.answeredAfter(time.Now().Add(-2*every))
	}
	// noise is what a busy machine adds: its processes run late.
	const noise = 300 * time.Millisecond
	report := func(scenario string, all []time.Duration) {
		slices.Sort(all)
		bound := s.bound(scenario)
		t.Logf("%s: %v at least, %v in the middle, %v at most; computed %v", scenario, all[0], all[len(all)/2], all[len(all)-1], bound)
		if all[len(all)-1] > bound+noise+every {
			t.Errorf("%s: %v without an answer, computed %v", scenario, all[len(all)-1], bound)
		}
	}
	s.startIronic(s.nodes[0].Host)
	s.startIronic(s.nodes[1].Host)
	s.until("the worker is answered", time.Minute, settled)
	var silent []time.Duration
	for range times {
		time.Sleep(2 * time.Second) // the worker is answered for a while before the fault
		lost, other := holder()
		begun := time.Now()
		s.cables(lost, "down")
		s.until(other.Name+" answers", time.Minute, func() bool { h, _ := holder(); return h == other && s.worker.answeredAfter(begun.Add(2*every)) })
		time.Sleep(time.Second) // the end of the silence is in the capture
		silent = append(silent, s.worker.silence(begun))
		s.cables(lost, "up")
		s.until("the node that was lost stands by", time.Minute, func() bool {
			for _, n := range s.nodes[:2] {
				if n.Host == lost {
					return n.status().Instances[group].State == "BACKUP"
				}
			}
			return false
		})
	}
	report("provisioning-power-loss", silent)

	from, to := holder()
	s.ironic[to.Name]()
	time.Sleep(15 * time.Second) // that is noticed
	silent = nil
	for range times {
		s.ironic[from.Name]()
		s.until("nobody has the address", time.Minute, func() bool { return len(observer.Holders()) == 0 })
		begun := time.Now()
		s.startIronic(to)
		s.until(to.Name+" answers", time.Minute, func() bool { return s.worker.answeredAfter(begun) })
		silent = append(silent, s.worker.silence(begun))
		from, to = to, from
	}
	report("provisioning-move", silent)
	if wrong := s.worker.wrong(); len(wrong) > 0 {
		t.Errorf("answers that differ: %q", wrong)
	}
}
