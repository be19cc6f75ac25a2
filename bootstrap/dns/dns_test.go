package dns

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// fakeHost is a FAKE: a machine whose state a test sets.
type fakeHost struct {
	resolver string // several files are separated by ---
	corefile []byte
	writes   int
	full     bool
	answer   error
	asked    []string
}

func (h *fakeHost) Links() (addr.Snapshot, error) {
	return addr.Snapshot{Links: []addr.Link{{Index: 2, Name: "enp1s0", Up: true, Addresses: []addr.Address{
		{Prefix: netip.MustParsePrefix("192.0.2.10/24")}, {Prefix: netip.MustParsePrefix("2001:db8::10/64")},
	}}, {Index: 3, Name: "docker0", Addresses: []addr.Address{{Prefix: netip.MustParsePrefix("fe80::1/64")}}}}}, nil
}

func (h *fakeHost) Resolvers() ([]nameserver.Resolver, error) {
	var files []nameserver.Resolver
	for i, text := range strings.Split(h.resolver, "---\n") {
		files = append(files, nameserver.Resolver{Path: fmt.Sprintf("/%d", i), Text: []byte(text)})
	}
	return files, nil
}

func (h *fakeHost) Write(config []byte) (bool, error) {
	if h.full {
		return false, errors.New("no space left")
	}
	if slices.Equal(config, h.corefile) {
		return false, nil
	}
	h.corefile = config
	h.writes++
	return true, nil
}

func (h *fakeHost) Written() bool { return h.corefile != nil }

func (h *fakeHost) Answers(_ context.Context, name string) error {
	h.asked = append(h.asked, name)
	return h.answer
}

// fakeDaemon is a FAKE: it counts the calls to a container engine.
type fakeDaemon struct {
	running bool
	signals []syscall.Signal
	stops   int
	err     error
}

func (d *fakeDaemon) Ensure(context.Context, container.Spec) error {
	d.running = d.err == nil
	return d.err
}
func (d *fakeDaemon) Stop(context.Context, string) error { d.stops++; return nil }
func (d *fakeDaemon) Running() bool                      { return d.running }

func (d *fakeDaemon) Signal(sig syscall.Signal) error {
	if !d.running {
		return os.ErrProcessDone
	}
	d.signals = append(d.signals, sig)
	return nil
}

// notified is what systemd received.
type notified struct {
	ready  int
	status []string
}

func (h *notified) Ready() error             { h.ready++; return nil }
func (h *notified) Status(text string) error { h.status = append(h.status, text); return nil }

func room(t *testing.T, resolver string) (*Room, *fakeHost, *fakeDaemon, *notified) {
	t.Helper()
	return roomOf(t, resolver, func(*spec.Cluster) {})
}

func roomOf(t *testing.T, resolver string, change func(*spec.Cluster)) (*Room, *fakeHost, *fakeDaemon, *notified) {
	t.Helper()
	c := spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Images: map[string]string{"corednsImage": "registry.example.com/coredns:1"},
	}
	change(&c)
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	h, d, n := &fakeHost{resolver: resolver}, &fakeDaemon{}, &notified{}
	return New(Options{Plan: p, Header: "made by a test", Host: h, Daemon: d, Notifier: n}), h, d, n
}

func reconcile(t *testing.T, r *Room) error {
	t.Helper()
	s, err := r.Observe(t.Context())
	if err != nil {
		return err
	}
	c, _ := r.Decide(s)
	return r.Apply(t.Context(), c)
}

func TestDecideUpstreams(t *testing.T) {
	tests := []struct {
		name     string
		resolver string
		want     []string
		why      string
	}{
		{name: "in order", resolver: "nameserver 198.51.100.2\nnameserver 198.51.100.1\n", want: []string{"198.51.100.2", "198.51.100.1"},
			why: "name servers 198.51.100.2, 198.51.100.1 from /0"},
		{name: "D-02: none at all", resolver: "# nothing\nsearch example.com\n", why: "no usable name server in any resolv.conf"},
		{name: "D-04: never this machine, in any family", resolver: "nameserver 192.0.2.10\nnameserver 2001:db8::10\nnameserver 198.51.100.1\n", want: []string{"198.51.100.1"},
			why: "name servers 198.51.100.1 from /0"},
		{name: "a router with the link-local address of another link here", resolver: "nameserver fe80::1%docker0\nnameserver fe80::1%enp1s0\n", want: []string{"fe80::1%enp1s0"},
			why: "name servers fe80::1%enp1s0 from /0"},
		{name: "D-05: never a loopback, never the stub resolver", resolver: "nameserver 127.0.0.53\nnameserver 127.0.0.1\nnameserver ::1\nnameserver 198.51.100.1\n", want: []string{"198.51.100.1"},
			why: "name servers 198.51.100.1 from /0"},
		{name: "the file behind a stub", resolver: "nameserver 127.0.0.53\n---\nnameserver 198.51.100.7\n---\nnameserver 198.51.100.8\n", want: []string{"198.51.100.7"},
			why: "name servers 198.51.100.7 from /1"},
		{name: "never a VIP", resolver: "nameserver 192.0.2.5\nnameserver 192.0.2.6\nnameserver 198.51.100.1\n", want: []string{"198.51.100.1"},
			why: "name servers 198.51.100.1 from /0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _, _, _ := room(t, tt.resolver)
			s, err := r.Observe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c, why := r.Decide(s)
			var got []string
			for _, u := range c.Upstreams {
				got = append(got, u.String())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("upstreams %v, want %v", got, tt.want)
			}
			if !slices.Equal(why, []string{tt.why}) {
				t.Errorf("reasons %q, want %q", why, tt.why)
			}
		})
	}
}

func TestApply(t *testing.T) {
	r, h, d, n := room(t, "nameserver 198.51.100.1\n")
	h.answer = errors.New("refused")
	if err := reconcile(t, r); err == nil || n.ready != 0 {
		t.Errorf("READY %d before CoreDNS answers, error %v", n.ready, err)
	}
	h.answer = nil
	for range 3 {
		if err := reconcile(t, r); err != nil {
			t.Fatal(err)
		}
	}
	if h.writes != 1 || len(d.signals) != 1 || n.ready != 1 || !slices.Equal(h.asked, []string{"api-int.ostest.example.com", "api-int.ostest.example.com"}) {
		t.Errorf("writes %d, signals %v, ready %d, asked %v", h.writes, d.signals, n.ready, h.asked)
	}
	h.resolver = "nameserver 198.51.100.2\n" // D-03
	if err := reconcile(t, r); err != nil {
		t.Fatal(err)
	}
	if h.writes != 2 || !slices.Equal(d.signals, []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR1}) || !strings.Contains(string(h.corefile), "198.51.100.2") {
		t.Errorf("after a change: writes %d, signals %v", h.writes, d.signals)
	}
	// The one may hold up a reload for 5 s, the other reloads what is being replaced.
	for _, plugin := range []string{"health", "reload"} {
		if strings.Contains(string(h.corefile), plugin) {
			t.Errorf("the Corefile has %s:\n%s", plugin, h.corefile)
		}
	}
	if err := r.Leave(t.Context()); err != nil || d.stops != 1 {
		t.Errorf("leave: %v, %d stops", err, d.stops)
	}
}

// TestApply_Reloads holds that CoreDNS reads the present Corefile: it gets a signal after its first
// answer, as an earlier signal may be lost, and again after another start or another Corefile.
func TestApply_Reloads(t *testing.T) {
	r, h, d, n := room(t, "nameserver 198.51.100.1\n")
	for _, step := range []struct {
		name    string
		do      func()
		signals int // until then
		asked   int
	}{
		{"a start: it does not answer yet", func() { h.answer = errors.New("refused") }, 0, 1},
		{"another Corefile before the first answer", func() { h.resolver = "nameserver 198.51.100.2\n" }, 0, 2},
		{"the first answer", func() { h.answer = nil }, 1, 3},
		{"nothing new", func() {}, 1, 3},
		{"another Corefile", func() { h.resolver = "nameserver 198.51.100.3\n" }, 2, 3},
		{"it has ended and is started again", func() { d.running = false }, 3, 4},
		{"nothing new again", func() {}, 3, 4},
	} {
		step.do()
		if err := reconcile(t, r); (err != nil) != (h.answer != nil) {
			t.Errorf("%s: error %v", step.name, err)
		}
		if len(d.signals) != step.signals || len(h.asked) != step.asked {
			t.Errorf("%s: %d signals and %d questions, want %d and %d", step.name, len(d.signals), len(h.asked), step.signals, step.asked)
		}
	}
	if n.ready != 1 {
		t.Errorf("READY %d times", n.ready)
	}
	// The program is started again beside a CoreDNS with an older Corefile: the former program
	// ended before it sent the signal.
	again := New(r.Options)
	d.signals, d.running = nil, false
	if err := reconcile(t, again); err != nil || h.writes != 3 || len(d.signals) != 1 {
		t.Errorf("adopted: %v, %d writes, signals %v", err, h.writes, d.signals)
	}
}

func TestApplyFaults(t *testing.T) {
	r, h, d, n := room(t, "")
	full := func(what string, running bool) {
		t.Helper()
		if err := reconcile(t, r); err == nil || err.Error() != "write /etc/coredns/Corefile: no space left" || d.running != running {
			t.Errorf("%s: running %v, want %v, error %v", what, d.running, running, err)
		}
	}
	h.full = true
	full("there is no Corefile", false)
	h.corefile = []byte("of an earlier run")
	full("there is one", true)
	if n.ready != 1 {
		t.Errorf("READY %d times by the former Corefile", n.ready)
	}
	h.full, d.err = false, errors.New("pull: refused")
	if err := reconcile(t, r); err == nil || err.Error() != "pull: refused" {
		t.Errorf("error %v", err)
	}
}

// TestContainer holds the least privilege that CoreDNS works with.
func TestContainer(t *testing.T) {
	r, _, _, _ := room(t, "")
	c := Container(r.Plan)
	if !slices.Equal(c.Capabilities, []string{"CAP_NET_BIND_SERVICE"}) || len(c.Mounts) != 1 || !c.Mounts[0].ReadOnly {
		t.Errorf("%+v", c)
	}
}

// TestAnnounced holds that hosts are answered for before any API exists, where CoreDNS is ours.
func TestAnnounced(t *testing.T) {
	const ours, directive = "localhost/onprem-infra:1", "    mdns ostest.example.com 3 ostest 192.0.2.10 {\n        networks 192.0.2.0/24\n    }\n"
	for _, tt := range []struct {
		name       string
		configured spec.MDNS
		used       string
		want       int // server blocks
	}{
		{"ours", spec.MDNSEnabled, ours, 3},
		{"another CoreDNS", spec.MDNSEnabled, "registry.example.com/coredns:1", 0},
		{"not asked for", "", ours, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, h, _, _ := roomOf(t, "nameserver 198.51.100.1\n", func(c *spec.Cluster) {
				c.MDNS, c.Images = tt.configured, map[string]string{spec.CoreDNSImage: tt.used, spec.RuntimeCfgImage: ours}
			})
			if err := reconcile(t, r); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(h.corefile), directive); got != tt.want {
				t.Errorf("%d times\n%swant %d in\n%s", got, directive, tt.want, h.corefile)
			}
		})
	}
}
