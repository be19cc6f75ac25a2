package lb

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/endpoint"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// world is a FAKE of everything around the room: a disk, an API, HAProxy and the packet filter.
type world struct {
	t      *testing.T
	files  map[string]string
	writes int
	fault  map[string]error // of a path, or of what is asked
	now    time.Time

	nodes  []addr.Candidate
	synced bool
	ca     []byte
	name   string

	runs      bool
	structure string
	stats     []haproxy.Stat
	healthy   bool
	late      error
	commands  []string
	reloads   int
	asked     int
	refuses   bool

	rules redirect.Rules
	plan  plan.Plan
	room  *Room

	pods         []endpoint.Endpoint // of Ironic
	podsSynced   bool
	serves       bool // HAProxy has Ironic's frontends
	servesLate   error
	asks         int // for that
	ironic       redirect.Rules
	withoutTable bool // of Ironic's rules: it was removed
}

func newWorld(t *testing.T) *world { return worldOf(t, func(*spec.Cluster) {}) }

func worldOf(t *testing.T, change func(*spec.Cluster)) *world {
	t.Helper()
	c := spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	}
	change(&c)
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, files: map[string]string{}, fault: map[string]error{}, plan: p, now: time.Unix(1e9, 0)}
	w.restart()
	return w
}

// restart is another monitor on the same machine.
func (w *world) restart() {
	w.room = New(Options{Plan: w.plan, Header: "header", Host: w, Nodes: w, Pods: ironicPods{w}, Trust: w, Daemon: w, Filter: packets{w}})
}

func (w *world) Read(path string) ([]byte, error) {
	if text, ok := w.files[path]; ok {
		return []byte(text), w.fault[path]
	}
	return nil, w.fault[path]
}

func (w *world) Write(path string, text []byte, _ fs.FileMode) (bool, error) {
	if err := w.fault[path]; err != nil {
		return false, err
	}
	if w.files[path] == string(text) {
		return false, nil
	}
	w.writes++
	w.files[path] = string(text)
	return true, nil
}

func (w *world) Remove(path string) error           { delete(w.files, path); return nil }
func (w *world) IPv6() bool                         { return true }
func (w *world) Now() time.Time                     { return w.now }
func (w *world) Nodes() ([]addr.Candidate, bool)    { return w.nodes, w.synced }
func (w *world) Trust() ([]byte, string, error)     { return w.ca, w.name, w.fault["trust"] }
func (w *world) RemoveLeftovers() ([]string, error) { return nil, w.fault["leftovers"] }

func (w *world) Running(context.Context) (string, bool, error) {
	w.asked++
	return w.structure, w.runs, w.fault["running"]
}
func (w *world) Stats(context.Context) ([]haproxy.Stat, error) { return w.stats, nil }
func (w *world) Healthy(context.Context) (bool, error)         { return w.healthy, w.late }

// Command carries out what Change asks for.
func (w *world) Command(_ context.Context, commands ...string) error {
	w.commands = append(w.commands, commands...)
	for _, c := range commands {
		for i := range w.stats {
			s := &w.stats[i]
			rest, ours := strings.CutPrefix(c, fmt.Sprintf("set server %s/%s ", s.Backend, s.Server))
			f := strings.Fields(rest)
			if c == fmt.Sprintf("shutdown sessions server %s/%s", s.Backend, s.Server) {
				s.Sessions = 0
			}
			switch {
			case !ours:
			case f[0] == "addr":
				s.Address = netip.MustParseAddrPort(netip.MustParseAddr(f[1]).String() + ":" + f[3])
			case f[0] == "state" && f[1] == "maint":
				s.Status = "MAINT"
			case f[0] == "state":
				s.Status = "UP"
			}
		}
	}
	return w.fault["command"]
}

func (w *world) Reload(_ context.Context, structure string) (bool, error) {
	w.reloads++
	if w.refuses {
		return true, errors.New("reload HAProxy: it refuses its configuration")
	}
	if err := w.fault["reload"]; err != nil {
		return false, err
	}
	w.start()
	if w.structure != structure {
		w.t.Errorf("reloaded to %s, and the file has %s", structure, w.structure)
	}
	return false, nil
}

// packets is the packet filter.
type packets struct{ *world }

func (p packets) Ensure(r redirect.Rules) (bool, error) {
	p.rules = r
	return true, p.fault["filter"]
}

// start has HAProxy begin with the file.
func (w *world) start() {
	w.runs, w.stats = true, nil
	backend := ""
	for line := range strings.Lines(w.files[haproxy.File]) {
		f := strings.Fields(line)
		switch {
		case len(f) > 1 && f[0] == "description":
			w.structure = f[1]
		case len(f) > 1 && f[0] == "backend":
			backend = f[1]
		case len(f) > 2 && f[0] == "server":
			s := haproxy.Stat{Backend: backend, Server: f[1], Address: netip.MustParseAddrPort(f[2]), Status: "UP", Check: "L7OK"}
			if len(f) > 3 {
				s.Status = "MAINT"
			}
			w.stats = append(w.stats, s)
		}
	}
}

func (w *world) reconcile() error {
	w.t.Helper()
	s, err := w.room.Observe(w.t.Context())
	if err != nil {
		return err
	}
	d, _ := w.room.Decide(s)
	return w.room.Apply(w.t.Context(), d)
}

func (w *world) well() {
	w.t.Helper()
	if err := w.reconcile(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) named(addresses ...string) {
	w.nodes, w.synced = nil, true
	for _, a := range addresses {
		w.nodes = append(w.nodes, addr.Candidate{Name: "node-" + a, InternalIPs: []netip.Addr{netip.MustParseAddr(a)}})
	}
}

// members are those that the file has.
func (w *world) members() string {
	var all []string
	in := false
	for line := range strings.Lines(w.files[haproxy.File]) {
		f := strings.Fields(line)
		if len(f) > 1 && f[0] == "backend" {
			in = f[1] == haproxy.Masters
		}
		if in && len(f) == 3 && f[0] == "server" {
			all = append(all, strings.TrimSuffix(f[2], ":6443"))
		}
	}
	return strings.Join(all, " ")
}

// TestMembersWithoutTheAPI holds K-23 for the balancer: the last answer of the API stays
// while it does not answer, and over a reboot (H-04).
func TestMembersWithoutTheAPI(t *testing.T) {
	w := newWorld(t)
	w.well()
	if got := w.members(); got != "" {
		t.Fatalf("no member is known yet: %q", got)
	}
	w.named("192.0.2.10", "192.0.2.11")
	w.well()
	want := "192.0.2.10 192.0.2.11"
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"named", func() {}},
		{"the API does not answer", func() { w.nodes, w.synced = nil, false }},
		{"the API names no node", func() { w.nodes, w.synced = nil, true }},
		{"nodes without addresses", func() { w.nodes = []addr.Candidate{{Name: "joining"}} }},
		{"another monitor without the API", func() { w.nodes, w.synced = nil, false; w.restart() }},
		{"no kubeconfig", func() { w.fault["trust"] = fs.ErrNotExist }},
	} {
		step.do()
		w.well()
		if got := w.members(); got != want {
			t.Errorf("%s: members %q, want %q", step.name, got, want)
		}
	}
}

// TestMemory holds that what was remembered is checked like anything else: it may be cut, or of
// another time.
func TestMemory(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"cut", `["192.0.2.10","192.0.`, ""},
		{"of another kind", `{"a": 1}`, ""},
		{"no address", `["0.0.0.0","127.0.0.1","192.0.2.10","",""]`, "192.0.2.10"},
		{"twice", `["192.0.2.10","192.0.2.10"]`, "192.0.2.10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.files[Memory] = tt.text
			w.well()
			if got := w.members(); got != tt.want {
				t.Errorf("members %q, want %q", got, tt.want)
			}
		})
	}
}

// TestChangesWithoutReload holds H-06: members change by commands, the file follows, and what is
// right is not written again.
func TestChangesWithoutReload(t *testing.T) {
	w := newWorld(t)
	w.named("192.0.2.10")
	w.well()
	w.start()
	for _, step := range []struct {
		nodes    []string
		commands bool
		want     string
	}{
		{[]string{"192.0.2.10"}, false, "192.0.2.10"},
		{[]string{"192.0.2.12", "192.0.2.11", "192.0.2.10"}, true, "192.0.2.10 192.0.2.11 192.0.2.12"},
		{[]string{"192.0.2.10", "192.0.2.12", "192.0.2.11"}, false, "192.0.2.10 192.0.2.11 192.0.2.12"},
		{[]string{"192.0.2.12", "192.0.2.10"}, true, "192.0.2.10 192.0.2.12"},
		{[]string{"192.0.2.10", "192.0.2.5", "192.0.2.6", "192.0.2.12"}, false, "192.0.2.10 192.0.2.12"},
	} {
		w.commands, w.writes = nil, 0
		w.named(step.nodes...)
		w.well()
		if got := w.members(); got != step.want || (len(w.commands) > 0) != step.commands || (w.writes > 0) != step.commands {
			t.Errorf("%v: members %q, %d commands, %d writes", step.nodes, got, len(w.commands), w.writes)
		}
	}
	if w.reloads > 0 {
		t.Errorf("%d reloads", w.reloads)
	}
}

// TestRefused holds what becomes of a structure that HAProxy does not take: the former file is
// back, members go on changing in it, and it is not tried again for a minute.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	w.named("192.0.2.10")
	w.well()
	w.start()
	w.well()
	good := w.structure
	w.refuses, w.ca, w.name = true, certificate(t), "api-int.ostest.example.com"
	if err := w.reconcile(); err == nil {
		t.Error("the error is not reported")
	}
	if !strings.Contains(w.files[haproxy.File], good) {
		t.Error("a HAProxy that restarts would not start")
	}
	w.named("192.0.2.10", "192.0.2.11")
	w.well()
	if got := w.members(); got != "192.0.2.10 192.0.2.11" || !strings.Contains(w.files[haproxy.File], good) || w.reloads != 1 {
		t.Errorf("members %q, %d reloads", got, w.reloads)
	}
	w.restart() // it does not know what was refused, and finds a good file
	if err := w.reconcile(); err == nil || !strings.Contains(w.files[haproxy.File], good) {
		t.Errorf("after a restart: %v", err)
	}
	for range 5 {
		if err := w.reconcile(); err == nil {
			t.Error("the error is not reported")
		}
	}
	if w.reloads != 2 {
		t.Errorf("%d reloads in one minute", w.reloads)
	}
	w.refuses, w.now = false, w.now.Add(again)
	w.well()
	if w.structure == good || w.reloads != 3 {
		t.Errorf("after a minute: %d reloads", w.reloads)
	}
}

// TestNotRefused holds that a master process which cannot be reached has refused nothing: it is
// asked again at once.
func TestNotRefused(t *testing.T) {
	w := newWorld(t)
	w.well()
	w.start()
	w.named("192.0.2.10")
	w.fault["reload"] = errors.New("connection refused")
	if err := w.reconcile(); err == nil {
		t.Error("the error is not reported")
	}
	delete(w.fault, "reload")
	w.well()
	if got := w.members(); got != "192.0.2.10" || w.reloads != 2 {
		t.Errorf("members %q, %d reloads", got, w.reloads)
	}
}

// TestRedirect holds H-13 in its sense: the redirect goes at once when HAProxy has no server, and
// one probe that times out does not remove it.
func TestRedirect(t *testing.T) {
	w := newWorld(t)
	all := redirect.Of(w.plan.VIPs.API, w.plan.MachineNetworks, w.plan.Ports)
	timeout := errors.New("deadline exceeded")
	for i, step := range []struct {
		healthy bool
		late    error
		on      bool
	}{
		{false, nil, false}, {true, nil, true}, {false, nil, false}, {true, nil, true},
		{false, timeout, true}, {false, timeout, true}, {true, nil, true},
		{false, timeout, true}, {false, timeout, true}, {false, timeout, false}, {false, timeout, false},
		{true, nil, true}, {false, timeout, true}, {false, nil, false}, {false, timeout, false},
	} {
		w.healthy, w.late = step.healthy, step.late
		w.well()
		if on := len(w.rules.Redirects) > 0; on != step.on || on && len(w.rules.Redirects) != len(all.Redirects) {
			t.Errorf("step %d: the redirect is on: %t, want %t", i, on, step.on)
		}
		if len(w.rules.Closed) != 1 {
			t.Errorf("step %d: the balanced machine config port is open", i)
		}
	}
	w.healthy, w.late = true, nil
	w.well()
	if err := w.room.Leave(t.Context()); err != nil || len(w.rules.Redirects) > 0 || len(w.rules.Closed) != 1 {
		t.Errorf("at the end: %+v, %v", w.rules, err)
	}
}

// TestFaultsApart holds K-25 and K-62: a failure is reported, and nothing else waits for it.
func TestFaultsApart(t *testing.T) {
	broken := errors.New("input/output error")
	for _, at := range []string{"filter", "leftovers", "running", "command", "trust", OwnAddress, haproxy.File, haproxy.Run.State(), Memory} {
		t.Run(at, func(t *testing.T) {
			w := newWorld(t)
			w.named("192.0.2.10")
			w.well()
			w.start()
			w.restart()
			w.healthy, w.fault[at] = true, broken
			w.named("192.0.2.10", "192.0.2.11")
			if err := w.reconcile(); !errors.Is(err, broken) {
				t.Errorf("it reports %v", err)
			}
			if len(w.rules.Redirects) == 0 {
				t.Error("the redirect waits for it")
			}
			stay := at == "running" || at == "trust" || at == OwnAddress || at == Memory
			if follow := len(w.commands) > 0; follow == stay || stay && w.members() != "192.0.2.10" {
				t.Errorf("the members follow: %t, the file has %s", follow, w.members())
			}
			delete(w.fault, at)
			w.well()
			if got := w.members(); got != "192.0.2.10 192.0.2.11" {
				t.Errorf("afterwards: members %q", got)
			}
		})
	}
}

// TestFullDisk holds that HAProxy gets other members where nothing can be written, and the sessions of a dead server are
// cut, that a structure for which only the members cannot be remembered is loaded, and that both are written later.
func TestFullDisk(t *testing.T) {
	full := errors.New("no space left on device")
	w := newWorld(t)
	w.named("192.0.2.10")
	w.well()
	w.start()
	w.well()
	for _, at := range []string{haproxy.File, haproxy.Run.State(), Memory} {
		w.fault[at] = full
	}
	w.named("192.0.2.10", "192.0.2.11")
	if err := w.reconcile(); !errors.Is(err, full) || len(w.commands) == 0 || w.members() != "192.0.2.10" {
		t.Errorf("%v, %d commands, the file has %s", err, len(w.commands), w.members())
	}
	dead := &w.stats[slices.IndexFunc(w.stats, func(s haproxy.Stat) bool { return s.Backend == haproxy.Masters })]
	was := *dead
	dead.Status, dead.Check, dead.Sessions = "DOWN", "L4CON", 2
	if err := w.reconcile(); !errors.Is(err, full) || dead.Sessions > 0 {
		t.Errorf("%v, a dead server has %d sessions", err, dead.Sessions)
	}
	*dead = was
	w.fault = map[string]error{Memory: full}
	var nine []string
	for i := range 9 {
		nine = append(nine, fmt.Sprintf("192.0.2.%d", 10+i))
	}
	w.named(nine...)
	if err := w.reconcile(); !errors.Is(err, full) || w.reloads != 1 || w.members() != strings.Join(nine, " ") {
		t.Errorf("%v, %d reloads, the file has %s", err, w.reloads, w.members())
	}
	clear(w.fault)
	w.well()
	if text := w.files[Memory]; !strings.Contains(text, nine[8]) || w.reloads != 1 {
		t.Errorf("it remembers %s, %d reloads", text, w.reloads)
	}
}

// TestTrust holds which certificates the checks verify.
func TestTrust(t *testing.T) {
	good := certificate(t)
	for _, tt := range []struct {
		name, server string
		ca           []byte
		verify, host bool
	}{
		{"a CA and a name", "api-int.ostest.example.com", good, true, true},
		{"a CA and an address", "192.0.2.5", good, true, false},
		{"an IPv6 address", "2001:db8::5", good, true, false},
		{"a name that is none", "api int\n", good, true, false},
		{"no CA", "api-int.ostest.example.com", nil, false, false},
		{"a CA that is none", "api-int.ostest.example.com", []byte("-----BEGIN CERTIFICATE-----\nx\n"), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.named("192.0.2.10")
			w.ca, w.name = tt.ca, tt.server
			w.well()
			text := w.files[haproxy.File]
			if verify := strings.Contains(text, "verify required ca-file /etc/haproxy/ca-"); verify != tt.verify {
				t.Errorf("verifies %t", verify)
			}
			if host := strings.Contains(text, "verifyhost "+tt.server); host != tt.host {
				t.Errorf("verifies the name %t", host)
			}
			for path, text := range w.files {
				if strings.HasPrefix(path, "/etc/haproxy/ca-") && !bytes.Equal([]byte(text), good) {
					t.Errorf("%s has %q", path, text)
				}
			}
		})
	}
}

// TestAnotherCA holds that HAProxy is reloaded for another CA, and that the former file goes once
// no HAProxy needs it.
func TestAnotherCA(t *testing.T) {
	w := newWorld(t)
	w.named("192.0.2.10")
	w.ca = certificate(t)
	w.well()
	w.start()
	w.well()
	w.ca = certificate(t)
	w.well()
	n := 0
	for path := range w.files {
		if strings.HasPrefix(path, "/etc/haproxy/ca-") {
			n++
		}
	}
	if n != 1 || w.reloads != 1 {
		t.Errorf("%d CA files, %d reloads", n, w.reloads)
	}
}

// TestPrepare holds H-10: the first configuration stands before HAProxy starts, whatever is known.
func TestPrepare(t *testing.T) {
	w := newWorld(t)
	w.files[Memory] = `["192.0.2.10","192.0.2.11"]`
	s, err := w.room.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, _ := w.room.Decide(s)
	if err := w.room.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.members(); got != "192.0.2.10 192.0.2.11" || w.files[haproxy.Run.State()] == "" {
		t.Errorf("members %q", got)
	}
	if d.Config.Server != w.plan.Timing.Model.Server || !strings.Contains(w.files[haproxy.File], " inter 220ms fastinter 40ms fall 2 rise 3 ") {
		t.Errorf("servers are probed as %+v, the plan has %+v", d.Config.Server, w.plan.Timing.Model.Server)
	}
	if w.reloads+len(w.commands) > 0 || w.rules.Closed != nil {
		t.Error("more than files was touched")
	}
	w.restart()
	w.fault[Memory] = errors.New("input/output error")
	if err := w.room.Prepare(t.Context()); err != nil || w.members() != "192.0.2.10 192.0.2.11" {
		t.Errorf("with a disk that does not read: members %q, %v", w.members(), err)
	}
}

// certificate is one that signed itself, another each time.
func certificate(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<31, 0), IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// TestLeftAlone holds that HAProxy is not asked in every round for what it has just taken, and that
// a change does not wait.
func TestLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.named("192.0.2.10")
	w.well()
	w.start()
	w.well()
	for _, step := range []struct {
		name  string
		do    func()
		asked int
	}{
		{"nothing", func() {}, 0},
		{"time", func() { w.now = w.now.Add(often) }, 1},
		{"another member", func() { w.named("192.0.2.10", "192.0.2.11") }, 1},
		{"nothing again", func() {}, 0},
	} {
		w.asked = 0
		step.do()
		w.well()
		if w.asked != step.asked {
			t.Errorf("%s: asked %d times, want %d", step.name, w.asked, step.asked)
		}
	}
}
