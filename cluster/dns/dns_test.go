package dns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// fakeWorld is a FAKE: a machine, an API and a CoreDNS whose states a test sets.
type fakeWorld struct {
	own      []string
	down     []string // addresses of a link that is down
	resolver string   // several files are separated by ---
	nodes    []Node
	synced   bool
	running  bool
	another  bool
	unready  bool

	files   map[string][]byte
	writes  map[string]int
	full    string // the file that cannot be written
	signals []time.Duration
	now     time.Duration
	later   time.Duration
}

func (w *fakeWorld) Links() (addr.Snapshot, error) {
	links := []addr.Link{{Index: 2, Name: "enp1s0", Up: true}, {Index: 3, Name: "kube-ipvs0"}}
	for i, all := range [][]string{w.own, w.down} {
		for _, a := range all {
			links[i].Addresses = append(links[i].Addresses, addr.Address{Prefix: netip.MustParsePrefix(a)})
		}
	}
	return addr.Snapshot{Links: links}, nil
}

func (w *fakeWorld) Resolvers() (files []nameserver.Resolver, err error) {
	for text := range strings.SplitSeq(w.resolver, "---\n") {
		files = append(files, nameserver.Resolver{Path: "/" + string(rune('0'+len(files))), Text: []byte(text)})
	}
	return files, nil
}

func (w *fakeWorld) Write(path string, text []byte) (bool, error) {
	if path == w.full {
		return false, errors.New("no space left")
	}
	if old, there := w.files[path]; there && bytes.Equal(old, text) {
		return false, nil
	}
	w.files[path] = text
	w.writes[path]++
	return true, nil
}

func (w *fakeWorld) Read(path string) ([]byte, error) { return w.files[path], nil }
func (w *fakeWorld) Now() time.Time                   { return time.Unix(1000, 0).Add(w.now) }
func (w *fakeWorld) Later(d time.Duration)            { w.later = d }
func (w *fakeWorld) Nodes() ([]Node, bool)            { return w.nodes, w.synced }
func (w *fakeWorld) Serves(context.Context) bool      { return !w.unready }
func (w *fakeWorld) Signal(sig syscall.Signal) error {
	if sig != syscall.SIGUSR1 {
		return errors.New("another signal")
	}
	w.signals = append(w.signals, w.now)
	return nil
}

func (w *fakeWorld) Running() (running, another bool) {
	another, w.another = w.another && w.running, false
	return w.running, another
}

func node(name string, addresses ...string) Node {
	n := Node{Candidate: addr.Candidate{Name: name}}
	for _, a := range addresses {
		n.InternalIPs = append(n.InternalIPs, netip.MustParseAddr(a))
	}
	return n
}

func masters() []Node {
	all := []Node{node("master-0", "192.0.2.10", "2001:db8::10"), node("master-1", "192.0.2.11", "2001:db8::11"), node("master-2", "192.0.2.12", "2001:db8::12")}
	for i := range all {
		all[i].ControlPlane = true
	}
	return all
}

// room is a room of a role in a world where CoreDNS has just started.
func room(t *testing.T, r role.Role, change func(*spec.Cluster)) (*Room, *fakeWorld) {
	t.Helper()
	c := spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	}
	if change != nil {
		change(&c)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	w := &fakeWorld{
		own: []string{"127.0.0.1/8", "192.0.2.10/24", "2001:db8::10/64", "2001:db8:9::10/64"}, resolver: "nameserver 198.51.100.1\n",
		running: true, another: true, files: map[string][]byte{}, writes: map[string]int{},
	}
	return New(Options{Plan: p, Role: r, Header: "made by a test", Host: w, Nodes: w, Daemon: w}), w
}

func reconcile(t *testing.T, r *Room) (Desired, []string, error) {
	t.Helper()
	s, err := r.Observe(t.Context())
	if err != nil {
		return Desired{}, nil, err
	}
	d, why := r.Decide(s)
	return d, why, r.Apply(t.Context(), d)
}

func words(addresses []netip.Addr) string {
	var all []string
	for _, a := range addresses {
		all = append(all, a.String())
	}
	return strings.Join(all, " ")
}

func TestDecideUpstreams(t *testing.T) {
	many := ""
	for i := range 20 {
		many += "nameserver 198.51.100." + string(rune('a'+i)) + "\n" // none of them is an address
		many += "nameserver " + netip.AddrFrom4([4]byte{198, 51, 100, byte(i + 1)}).String() + "\n"
	}
	for _, tt := range []struct{ name, resolver, want, why string }{
		{name: "in order", resolver: "nameserver 198.51.100.2\nnameserver 198.51.100.1\n", want: "198.51.100.2 198.51.100.1", why: "name servers 198.51.100.2, 198.51.100.1 from /0"},
		{name: "D-02: empty", resolver: "", why: "no usable name server in any resolv.conf"},
		{name: "D-02: comments only", resolver: "# nameserver 198.51.100.1\nsearch example.com\n", why: "no usable name server in any resolv.conf"},
		{name: "D-02: this machine only", resolver: "nameserver 192.0.2.10\n", why: "no usable name server in any resolv.conf"},
		{name: "D-04: never this machine, in any family", resolver: "nameserver 192.0.2.10\nnameserver 2001:db8::10\nnameserver ::ffff:192.0.2.10\nnameserver 2001:db8:9::10\nnameserver 198.51.100.1\n", want: "198.51.100.1",
			why: "name servers 198.51.100.1 from /0"},
		{name: "a router with the link-local address of another link here", resolver: "nameserver fe80::1%kube-ipvs0\nnameserver fe80::1%enp1s0\n", want: "fe80::1%enp1s0", why: "name servers fe80::1%enp1s0 from /0"},
		{name: "D-05: never a loopback, never the stub resolver", resolver: "nameserver 127.0.0.53\nnameserver 127.8.0.1\nnameserver ::1\nnameserver 198.51.100.1\n", want: "198.51.100.1",
			why: "name servers 198.51.100.1 from /0"},
		{name: "the file behind a stub", resolver: "nameserver 127.0.0.53\n---\nnameserver 198.51.100.7\n---\nnameserver 198.51.100.8\n", want: "198.51.100.7", why: "name servers 198.51.100.7 from /1"},
		{name: "never a VIP", resolver: "nameserver 192.0.2.5\nnameserver 192.0.2.6\nnameserver 198.51.100.1\n", want: "198.51.100.1", why: "name servers 198.51.100.1 from /0"},
		{name: "never another node, which would ask us", resolver: "nameserver 192.0.2.11\nnameserver 2001:db8::12\nnameserver 198.51.100.1\n", want: "198.51.100.1", why: "name servers 198.51.100.1 from /0"},
		{name: "at most 15", resolver: many, want: "198.51.100.1 198.51.100.2 198.51.100.3 198.51.100.4 198.51.100.5 198.51.100.6 198.51.100.7 198.51.100.8 198.51.100.9 198.51.100.10 198.51.100.11 198.51.100.12 198.51.100.13 198.51.100.14 198.51.100.15",
			why: "name servers 198.51.100.1, 198.51.100.2, 198.51.100.3, 198.51.100.4, 198.51.100.5, 198.51.100.6, 198.51.100.7, 198.51.100.8, 198.51.100.9, 198.51.100.10, 198.51.100.11, 198.51.100.12, 198.51.100.13, 198.51.100.14, 198.51.100.15 from /0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w := room(t, role.Master, nil)
			w.resolver, w.nodes, w.synced = tt.resolver, masters(), true
			w.down = []string{"fe80::1/64"}
			d, why, err := reconcile(t, r)
			if got := words(d.Corefile.Upstreams); err != nil || got != tt.want || !slices.Equal(why, []string{tt.why, "3 nodes named by the API"}) {
				t.Errorf("upstreams %q, reasons %q (%v), want %q, %q", got, why, err, tt.want, tt.why)
			}
		})
	}
}

// TestDecideUpstreams_Claimed has a worker's kubelet put two of the site's name servers among the
// addresses of its own Node: they are asked on, after the one that no Node has, also by what was
// remembered, and another control plane node is not.
func TestDecideUpstreams_Claimed(t *testing.T) {
	r, w := room(t, role.Master, nil)
	w.resolver = "nameserver 192.0.2.11\nnameserver 198.51.100.1\nnameserver 2001:db8:1::1\nnameserver 198.51.100.2\n"
	w.nodes, w.synced = append(masters(), node("worker-0", "192.0.2.20", "198.51.100.1", "2001:db8:1::1")), true
	for _, when := range []string{"the API answers", "a restart while it is away"} {
		d, why, err := reconcile(t, r)
		if got := words(d.Corefile.Upstreams); err != nil || got != "198.51.100.2 198.51.100.1 2001:db8:1::1" || !slices.Contains(why, "198.51.100.1, 2001:db8:1::1 last, as a Node has the address") {
			t.Errorf("%s: upstreams %q, reasons %q (%v)", when, got, why, err)
		}
		r, w.nodes, w.synced = New(r.Options), nil, false
	}
}

// TestDecideKnowing holds which host is asked for the names of nodes that a node does not know.
func TestDecideKnowing(t *testing.T) {
	v6 := []Node{node("m0", "2001:db8::10"), node("m1", "2001:db8::11")}
	var crowd []Node
	for i := range 20 {
		crowd = append(crowd, node("m"+string(rune('a'+i)), netip.AddrFrom4([4]byte{192, 0, 2, byte(100 + i)}).String()))
	}
	for _, tt := range []struct {
		name  string
		role  role.Role
		own   []string
		nodes []Node
		want  string
		last  string // reason
	}{
		{"a control plane node knows all and asks none of its like", role.Master, []string{"192.0.2.10/24"}, masters(), "", "3 nodes named by the API"},
		{"a worker", role.Worker, []string{"192.0.2.20/24", "2001:db8::20/64"}, masters(), "192.0.2.10 192.0.2.11 192.0.2.12", "names of other nodes from 192.0.2.10, 192.0.2.11, 192.0.2.12"},
		{"a worker without the first family", role.Worker, []string{"127.0.0.1/8", "2001:db8::20/64", "fe80::1/64"}, masters(), "2001:db8::10 2001:db8::11 2001:db8::12", "names of other nodes from 2001:db8::10, 2001:db8::11, 2001:db8::12"},
		{"a worker with none of their families", role.Worker, []string{"192.0.2.20/24"}, v6, "", "names of other nodes from none"},
		{"an arbiter, never itself", role.Arbiter, []string{"192.0.2.12/24"}, masters(), "192.0.2.10 192.0.2.11", "names of other nodes from 192.0.2.10, 192.0.2.11"},
		{"not more than leaves room for name servers", role.Worker, []string{"192.0.2.20/24"}, crowd, "192.0.2.100 192.0.2.101 192.0.2.102 192.0.2.103 192.0.2.104 192.0.2.105 192.0.2.106 192.0.2.107 192.0.2.108",
			"names of other nodes from 192.0.2.100, 192.0.2.101, 192.0.2.102, 192.0.2.103, 192.0.2.104, 192.0.2.105, 192.0.2.106, 192.0.2.107, 192.0.2.108"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w := room(t, tt.role, nil)
			w.own, w.nodes, w.synced = tt.own, tt.nodes, true
			d, why, err := reconcile(t, r)
			if got := words(d.Corefile.Knowing); err != nil || got != tt.want || why[len(why)-1] != tt.last {
				t.Errorf("asks %q, reasons %q (%v), want %q, %q", got, why, err, tt.want, tt.last)
			}
		})
	}
}

// TestDecideClients holds who may query where dnsClients restricts it: the host itself at each of its
// addresses that is no VIP, and on a control plane node all nodes, which forward to it.
func TestDecideClients(t *testing.T) {
	restricted := func(c *spec.Cluster) { c.DNSClients = []netip.Prefix{netip.MustParsePrefix("10.128.0.0/14")} }
	own := []string{"127.0.0.1/8", "203.0.113.20/25", "2001:db8:9::20/64", "fe80::1/64", "192.0.2.5/32", "192.0.2.20/24"}
	nodes := append(masters(), node("remote", "203.0.113.21", "fe80::2"), node("odd", "192.0.2.6"))
	for _, tt := range []struct {
		name   string
		role   role.Role
		change func(*spec.Cluster)
		want   string
	}{
		{"all", role.Worker, nil, ""},
		{"a remote worker", role.Worker, restricted, "10.128.0.0/14 127.0.0.0/8 192.0.2.0/24 203.0.113.20/32 ::1/128 2001:db8:9::20/128"},
		{"a control plane node", role.Master, restricted, "10.128.0.0/14 127.0.0.0/8 192.0.2.0/24 203.0.113.20/32 203.0.113.21/32 ::1/128 " +
			"2001:db8::10/128 2001:db8::11/128 2001:db8::12/128 2001:db8:9::20/128"},
		{"a VIP outside of the machine networks", role.Worker, func(c *spec.Cluster) {
			restricted(c)
			c.LoadBalancer, c.APIVIPs = spec.UserManaged, []netip.Addr{netip.MustParseAddr("203.0.113.20")}
		}, "10.128.0.0/14 127.0.0.0/8 192.0.2.0/24 ::1/128 2001:db8:9::20/128"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w := room(t, tt.role, tt.change)
			w.own, w.nodes, w.synced = own, nodes, true
			w.down = []string{"172.30.0.1/32", "172.30.0.10/32"}
			d, _, err := reconcile(t, r)
			var got []string
			for _, p := range d.Corefile.Clients {
				got = append(got, p.String())
			}
			if err != nil || strings.Join(got, " ") != tt.want {
				t.Errorf("answers %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

func TestDecideHosts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		nodes []Node
		want  string // the hosts file without its header, lines apart by ;
		why   string // the last reason
	}{
		{"D-10: both families, by short name, sorted", []Node{node("worker-0.example.com", "192.0.2.20"), node("Master-0.ostest.example.com", "192.0.2.10", "2001:db8::10")},
			"192.0.2.10 master-0 master-0.ostest.example.com;2001:db8::10 master-0 master-0.ostest.example.com;192.0.2.20 worker-0 worker-0.ostest.example.com", "2 nodes named by the API"},
		{"every address", []Node{node("a", "192.0.2.20", "192.0.2.21", "192.0.2.20")}, "192.0.2.20 a a.ostest.example.com;192.0.2.21 a a.ostest.example.com", "1 nodes named by the API"},
		{"two of one short name", []Node{node("a.x", "192.0.2.20"), node("a.y", "192.0.2.21")}, "192.0.2.20 a a.ostest.example.com;192.0.2.21 a a.ostest.example.com", "1 nodes named by the API"},
		{"a VIP is no node's", []Node{node("a", "192.0.2.5", "192.0.2.20", "192.0.2.6")}, "192.0.2.20 a a.ostest.example.com", "1 nodes named by the API"},
		{"addresses that lead nowhere", []Node{node("a", "127.0.0.1", "::1", "fe80::1", "0.0.0.0", "::", "224.0.0.1", "192.0.2.20")}, "192.0.2.20 a a.ostest.example.com", "1 nodes named by the API"},
		{"no address yet", []Node{node("a"), node("b", "192.0.2.20")}, "192.0.2.20 b b.ostest.example.com", `node "a" has no name: it has no address yet`},
		{"no name for DNS", []Node{node("a_b", "192.0.2.21"), node("b", "192.0.2.20")}, "192.0.2.20 b b.ostest.example.com",
			`node "a_b" has no name: name "a_b": label "a_b" holds '_': only letters, digits and hyphens may be in it`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w := room(t, role.Master, nil)
			w.nodes, w.synced = tt.nodes, true
			_, why, err := reconcile(t, r)
			header, lines, _ := strings.Cut(string(w.files[corefile.HostsPath]), "\n")
			if got := strings.ReplaceAll(strings.TrimSpace(lines), "\n", ";"); err != nil || header != "# made by a test" || got != tt.want || why[len(why)-1] != tt.why {
				t.Errorf("%s, %q, reasons %q (%v), want %q, %q", header, got, why, err, tt.want, tt.why)
			}
		})
	}
}

// TestDecideRecords holds that a cluster whose records are external has no names of its own, and
// its nodes have names all the same (D-14).
func TestDecideRecords(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*spec.Cluster)
		want   int
	}{
		{"internal", nil, 3},
		{"external", func(c *spec.Cluster) { c.LoadBalancer, c.DNSRecords = spec.UserManaged, spec.External }, 0},
	} {
		r, w := room(t, role.Worker, tt.change)
		w.nodes, w.synced = masters(), true
		d, _, err := reconcile(t, r)
		if err != nil || len(d.Corefile.Records) != tt.want || !d.Corefile.Hosts || d.Corefile.HealthPort != 18080 || d.Corefile.Poll {
			t.Errorf("%s: %+v, %v", tt.name, d.Corefile, err)
		}
	}
}

// TestNodesWithoutAPI goes through a node's life: no API yet, one that answers, one that is away, a
// restart meanwhile, and one that claims that there are no nodes.
func TestNodesWithoutAPI(t *testing.T) {
	r, w := room(t, role.Master, nil)
	step := func(what, why, last string) {
		t.Helper()
		_, reasons, err := reconcile(t, r)
		hosts := strings.TrimSpace(string(w.files[corefile.HostsPath]))
		if err != nil || reasons[1] != why || !strings.HasSuffix(hosts, last) {
			t.Errorf("%s: %q, %v, hosts\n%s", what, reasons, err, hosts)
		}
		if !strings.Contains(string(w.files[Config]), "192.0.2.5") {
			t.Errorf("%s: the cluster's own names are not answered", what)
		}
	}
	again := func() { r = New(r.Options) }
	step("no API yet", "no node is named yet", "# made by a test") // D-16: the file is there
	w.nodes, w.synced = masters(), true
	step("the API answers", "3 nodes named by the API", "2001:db8::12 master-2 master-2.ostest.example.com")
	w.nodes = append(w.nodes[:2:2], node("master-2", "192.0.2.77")) // W-20
	step("an address changes", "3 nodes named by the API", "192.0.2.77 master-2 master-2.ostest.example.com")
	w.nodes = nil
	step("the API reports no node", "3 nodes named by memory", "192.0.2.77 master-2 master-2.ostest.example.com")
	w.synced = false
	again()
	step("a restart while it is away", "3 nodes named by memory", "192.0.2.77 master-2 master-2.ostest.example.com")
	var former []map[string]any
	if err := json.Unmarshal(w.files[MemoryPath], &former); err != nil || len(former) != 3 {
		t.Fatal(err, former)
	}
	for _, n := range former {
		delete(n, "controlPlane")
	}
	w.files[MemoryPath], _ = json.Marshal(former)
	again()
	if s, err := r.Observe(t.Context()); err != nil || !s.isSelf(r.Plan, netip.MustParseAddr("192.0.2.77")) {
		t.Errorf("the memory of a former release: %v, %v", s.Nodes, err)
	}
	w.files[MemoryPath] = []byte("[{")
	again()
	step("and the memory is spoilt", "no node is named yet", "192.0.2.77 master-2 master-2.ostest.example.com") // the former file stays
	w.nodes, w.synced = masters(), true
	w.full = MemoryPath
	if _, _, err := reconcile(t, r); err == nil || err.Error() != "remember the nodes: no space left" {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(string(w.files[corefile.HostsPath]), "192.0.2.12") {
		t.Error("the nodes have no names where they cannot be remembered")
	}
}

func TestDecode(t *testing.T) {
	for _, text := range []string{"", "null", "{}", `[{"name":7}]`, `[{"addresses":["x"]}]`} {
		if got := decode([]byte(text)); len(got) != 0 {
			t.Errorf("%q reads as %v", text, got)
		}
	}
	if got := decode([]byte(`[{"name":"a","addresses":["","192.0.2.1"]}]`)); len(got) != 1 || words(got[0].InternalIPs) != "192.0.2.1" {
		t.Errorf("read %v", got)
	}
}

// TestReload holds when CoreDNS is reloaded: when it serves, once for each change, and never twice
// within 1.5 s, as a reload one second after another may take 5 s. Other nodes need no reload.
func TestReload(t *testing.T) {
	r, w := room(t, role.Master, nil)
	for _, step := range []struct {
		name    string
		do      func()
		after   time.Duration // since the step before
		reloads int           // until then
		later   time.Duration // the delay of the next round
	}{
		{"it has just started", func() {}, 0, 0, 1500 * time.Millisecond},
		{"it handles no signal yet", func() { w.unready = true }, 1500 * time.Millisecond, 0, 0},
		{"it does", func() { w.unready = false }, 2 * time.Second, 1, 0},
		{"nothing new", func() {}, 2 * time.Second, 1, 0},
		{"other nodes", func() { w.nodes, w.synced = masters(), true }, time.Second, 1, 0},
		{"another name server", func() { w.resolver = "nameserver 198.51.100.2\n" }, time.Second, 2, 0},
		{"and another a moment later", func() { w.resolver = "nameserver 198.51.100.3\n" }, time.Second, 2, 500 * time.Millisecond},
		{"its time", func() {}, 500 * time.Millisecond, 3, 0},
		{"CoreDNS is gone", func() { w.running, w.resolver = false, "nameserver 198.51.100.4\n" }, 2 * time.Second, 3, 0},
		{"and back", func() { w.running, w.another = true, true }, 2 * time.Second, 3, 1500 * time.Millisecond},
		{"reloaded at its time", func() {}, 1500 * time.Millisecond, 4, 0},
	} {
		step.do()
		w.now += step.after
		w.later = 0
		if _, _, err := reconcile(t, r); err != nil || len(w.signals) != step.reloads || w.later != step.later {
			t.Errorf("%s: %v, reloaded %d times, later %v, want %d and %v", step.name, err, len(w.signals), w.later, step.reloads, step.later)
		}
	}
	if w.writes[Config] != 4 || w.writes[corefile.HostsPath] != 2 {
		t.Errorf("written: %v", w.writes)
	}
}

// TestApplyFaults holds that one file which cannot be written costs no other.
func TestApplyFaults(t *testing.T) {
	for path, want := range map[string]string{
		Config:             "write /etc/coredns/Corefile: no space left",
		corefile.HostsPath: "write /etc/coredns/hosts: no space left",
		MemoryPath:         "remember the nodes: no space left",
	} {
		r, w := room(t, role.Master, nil)
		w.nodes, w.synced, w.full = masters(), true, path
		if _, _, err := reconcile(t, r); err == nil || err.Error() != want || len(w.files) != 2 {
			t.Errorf("%s: error %v, %d files written", path, err, len(w.files))
		}
		w.full = ""
		if _, _, err := reconcile(t, r); err != nil || len(w.files) != 3 {
			t.Errorf("%s: error %v with room again, %d files", path, err, len(w.files))
		}
	}
}

// TestAnnounced holds where CoreDNS answers from the nodes' announcements: in our build of CoreDNS,
// on the interface of the node's address, and only if no control plane node is asked.
func TestAnnounced(t *testing.T) {
	ours := func(c *spec.Cluster) {
		c.MDNS, c.Images = spec.MDNSEnabled, map[string]string{spec.CoreDNSImage: "localhost/onprem-infra:1", spec.RuntimeCfgImage: "localhost/onprem-infra:1"}
	}
	const directive = "    mdns ostest.example.com 3 ostest 192.0.2.10 {\n        networks 192.0.2.0/24\n    }\n"
	for _, tt := range []struct {
		name   string
		role   role.Role
		change func(*spec.Cluster)
		nodes  []Node
		own    []string // others than the world's
		want   int      // server blocks
		why    string   // the reason after that for the nodes
	}{
		{"a control plane of five", role.Master, func(c *spec.Cluster) {
			ours(c)
			c.ControlPlaneReplicas, c.Distribution = 5, spec.Kubernetes
		}, masters(), nil, 3, "announcements of nodes are received on the interface of 192.0.2.10"},
		{"a master", role.Master, ours, masters(), nil, 3, "announcements of nodes are received on the interface of 192.0.2.10"},
		{"a worker before any node is known", role.Worker, ours, nil, nil, 3, "announcements of nodes are received on the interface of 192.0.2.10"},
		{"a worker that can ask the control plane", role.Worker, ours, masters(), nil, 1, "announcements of nodes are received on the interface of 192.0.2.10"},
		{"a machine without an address", role.Master, ours, nil, []string{"127.0.0.1/8"}, 0, "announcements of nodes are received on every interface: choose the node's address: "},
		{"another CoreDNS", role.Master, func(c *spec.Cluster) { ours(c); c.Images[spec.CoreDNSImage] = "localhost/coredns:1" }, masters(), nil, 0, ""},
		{"not asked for", role.Master, func(c *spec.Cluster) { ours(c); c.MDNS = "" }, masters(), nil, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w := room(t, tt.role, tt.change)
			w.nodes, w.synced = tt.nodes, true
			if tt.own != nil {
				w.own = tt.own
			}
			_, why, err := reconcile(t, r)
			directive := directive
			if strings.Contains(tt.name, "five") {
				directive = strings.Replace(directive, " 3 ", " 5 ", 1)
			}
			if got := strings.Count(string(w.files[Config]), directive); err != nil || got != tt.want {
				t.Errorf("%v, %d times\n%swant %d in\n%s", err, got, directive, tt.want, w.files[Config])
			}
			if all := strings.Join(why, "\n"); tt.why != "" && !strings.Contains(all, tt.why) || tt.why == "" && strings.Contains(all, "announce") {
				t.Errorf("reasons %q, want %q", why, tt.why)
			}
		})
	}
}
