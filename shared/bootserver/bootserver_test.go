package bootserver

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	plans "github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// TestDecide holds what is done in each situation, and the reason that is reported.
func TestDecide(t *testing.T) {
	for _, tt := range []struct {
		name   string
		mode   plans.Mode
		change func(*fakeHost)
		step   Step
		why    string
	}{
		{"no orders", plans.Managed, func(h *fakeHost) { h.orders = orders.Orders{} }, Release, "off: there are no orders"},
		{"off", plans.Managed, func(h *fakeHost) { h.off() }, Release, "off: all hosts are installed"},
		{"other parts are on", plans.Managed, func(h *fakeHost) { h.orders.On = []orders.Part{orders.Address, orders.HTTP} }, Release, "off: deploy"},
		{"on", plans.Managed, func(*fakeHost) {}, Serve, "answers 2 hosts at 172.22.0.2 on eno2"},
		{"no address", plans.Managed, func(h *fakeHost) { h.address = "" }, Wait, "waits for 172.22.0.2"},
		{"the cluster's address", plans.Managed, func(h *fakeHost) { h.address = "172.22.0.3/24" }, Wait, "waits for 172.22.0.2"},
		{"an address that is probed", plans.Managed, func(h *fakeHost) { h.state = addr.Address{Tentative: true} }, Wait, "waits for the end of the probe"},
		{"an address of another host", plans.Managed, func(h *fakeHost) { h.state = addr.Address{Tentative: true, Duplicate: true} }, Wait, "another host has 172.22.0.2: find it"},
		{"no program", plans.Managed, func(h *fakeHost) { h.absent = []string{".efi"} }, Wait, "snponly.efi is missing below " + layout.TFTP},
		{"no program over HTTP", plans.Managed, func(h *fakeHost) { h.absent = []string{"/http/snponly.efi", "/tftp/arm64-efi/snponly.efi"} }, Wait, "snponly.efi is missing"},
		{"a program of another architecture", plans.Managed, func(h *fakeHost) {
			h.absent = []string{"/snponly.efi", "undionly.kpxe"}
			h.absent[0] = "http/snponly.efi"
		}, Serve, "answers 2 hosts"},
		{"no hosts", plans.Managed, func(h *fakeHost) { h.orders.Hosts = nil }, Nothing, "no host is to be answered"},
		{"hosts of the other phase", plans.Managed, func(h *fakeHost) { h.orders.Hosts = []mac.MAC{card(3), card(9)} }, Nothing, "no host is to be answered"},
		{"the user's DHCP", plans.Unmanaged, func(h *fakeHost) { h.orders.Hosts = nil }, Serve, "serves TFTP at 172.22.0.2 on eno2"},
		{"no network", plans.Disabled, func(h *fakeHost) { h.address = "" }, Nothing, "hosts boot virtual media"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, h := newRoom(t, tt.mode)
			h.on(card(1), card(2))
			tt.change(h)
			s, err := r.Observe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			d, why := r.Decide(s)
			if d.Step != tt.step || !strings.HasPrefix(why.String(), tt.why) || d.Generation != h.orders.Generation {
				t.Errorf("step %d: %s, want %d: %s", d.Step, why, tt.step, tt.why)
			}
		})
	}
}

// TestDecide_Files holds that the set of hosts, and which of them boot from their disks, change the
// list alone: dnsmasq starts again with another configuration.
func TestDecide_Files(t *testing.T) {
	r, h := newRoom(t, plans.Managed)
	conf, lists := map[string]bool{}, map[string]bool{}
	for _, o := range []orders.Orders{{Hosts: []mac.MAC{card(1)}}, {Hosts: []mac.MAC{card(2), card(1), card(2)}}, {Hosts: []mac.MAC{card(2), card(3)}},
		{Hosts: []mac.MAC{card(1)}, Local: []mac.MAC{card(1), card(2)}}} {
		h.on(o.Hosts...)
		h.orders.Local = o.Local
		s, _ := r.Observe(t.Context())
		d, _ := r.Decide(s)
		conf[string(d.Conf)] = true
		for _, f := range d.Files {
			if f.Path == layout.DnsmasqHost {
				lists[string(f.Contents)] = true
			}
		}
	}
	if len(conf) != 1 || !lists["52:54:00:00:00:01,172.22.0.11,host-1\n"] || !lists["52:54:00:00:00:02,172.22.0.12,host-2\n"] ||
		!lists["52:54:00:00:00:01,set:local,172.22.0.11,host-1\n"] || len(lists) != 4 {
		t.Errorf("%d configurations, lists %v", len(conf), lists)
	}
	for text := range conf {
		if !strings.Contains(text, "log-facility="+layout.DnsmasqLog+"\n") || strings.Contains(text, "authoritative") {
			t.Errorf("the configuration is\n%s", text)
		}
	}
}

// TestApply follows the server through an installation: at each step only the hosts of the orders
// get answers, and the report is what the phase machine waits for.
func TestApply(t *testing.T) {
	r, h := newRoom(t, plans.Managed)
	for _, step := range []struct {
		name    string
		do      func()
		answers []mac.MAC
		follows bool
		why     string
	}{
		{"nothing is ordered", func() {}, nil, true, "off: there are no orders"},
		{"on, without the address", func() { h.on(card(1)); h.address = "" }, nil, false, "waits for 172.22.0.2"},
		{"the address comes", func() { h.address = "172.22.0.2/24" }, []mac.MAC{card(1)}, true, "answers 1 hosts"},
		{"one host more", func() { h.on(card(1), card(2)) }, []mac.MAC{card(1), card(2)}, true, "answers 2 hosts"},
		{"another set", func() { h.on(card(2)) }, []mac.MAC{card(2)}, true, "answers 1 hosts"},
		{"a host of the other phase", func() { h.on(card(2), card(3)) }, []mac.MAC{card(2)}, false, "the plan has no host of this phase with 52:54:00:00:00:03"},
		{"it is corrected", func() { h.on(card(2)) }, []mac.MAC{card(2)}, true, "answers 1 hosts"},
		{"the address goes", func() { h.address = "" }, nil, false, "waits for 172.22.0.2"},
		{"and comes back", func() { h.address = "172.22.0.2/24" }, []mac.MAC{card(2)}, true, "answers 1 hosts"},
		{"no host", func() { h.on() }, nil, true, "no host is to be answered"},
		{"a host again", func() { h.on(card(1)) }, []mac.MAC{card(1)}, true, "answers 1 hosts"},
		{"off", func() { h.off() }, nil, true, "off: all hosts are installed"},
		{"and on again", func() { h.on(card(1)) }, []mac.MAC{card(1)}, true, "answers 1 hosts"},
	} {
		step.do()
		for range 6 { // what holds does not change with time
			if err := round(t, r, h); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			if !slices.Equal(h.answers(), step.answers) {
				t.Errorf("%s: answers %v, want %v", step.name, h.answers(), step.answers)
			}
		}
		got := h.report()
		if got.Follows(h.orders, h.now) != step.follows || !strings.Contains(got.Why, step.why) {
			t.Errorf("%s: reported %+v, want follows %t, %s", step.name, got, step.follows, step.why)
		}
	}
	if h.starts != 3 || slices.ContainsFunc(h.signals, func(s syscall.Signal) bool { return s != syscall.SIGHUP }) {
		t.Errorf("%d starts, signals %v", h.starts, h.signals)
	}
}

// TestApply_Released holds that a server that is off leaves nothing behind, and costs nothing.
func TestApply_Released(t *testing.T) {
	r, h := newRoom(t, plans.Managed)
	h.on(card(1))
	if err := round(t, r, h); err != nil || h.watched != "eno2" {
		t.Fatal(err, h.watched)
	}
	h.off()
	h.fault = errors.New("podman does not answer")
	if err := round(t, r, h); err == nil || h.report().Follows(h.orders, h.now) || !h.report().On || len(h.answers()) != 0 || h.filter == nil {
		t.Errorf("the engine fails: %v, %+v, answers %v, filter %v", err, h.report(), h.answers(), h.filter)
	}
	h.fault, h.unfence = nil, errors.New("no netlink")
	if err := round(t, r, h); err != nil || h.running || h.filter != nil || h.watched != "" || !h.report().Follows(h.orders, h.now) {
		t.Errorf("%v: running %t, filter %v, watched %q, reported %+v", err, h.running, h.filter, h.watched, h.report())
	}
	h.fault = errors.New("nothing calls the engine any more")
	if err := round(t, r, h); err != nil {
		t.Error(err)
	}
}

// TestApply_Signals holds that a list is read once, by a dnsmasq that handles signals, and that an
// adopted one reads it too.
func TestApply_Signals(t *testing.T) {
	r, h := newRoom(t, plans.Managed)
	for _, step := range []struct {
		name    string
		do      func()
		signals int // until then
		asked   int
	}{
		{"a start: it does not answer yet", func() { h.on(card(1)); h.silent = true }, 0, 1},
		{"another list before the first answer", func() { h.on(card(2)) }, 0, 2},
		{"the first answer", func() { h.silent = false }, 1, 3},
		{"nothing new", func() {}, 1, 3},
		{"another list", func() { h.on(card(1)) }, 2, 3},
		{"it has exited and is started again", func() { h.running = false }, 3, 4},
		{"another configuration", func() { r.Plan.Ports["provisioning-http"] = 6181 }, 4, 5},
		{"another run of this program adopts it", func() { r = New(r.Options) }, 5, 6},
	} {
		step.do()
		if err := round(t, r, h); (err != nil) != h.silent {
			t.Errorf("%s: error %v", step.name, err)
		}
		if len(h.signals) != step.signals || h.asked != step.asked {
			t.Errorf("%s: %d signals and %d questions, want %d and %d", step.name, len(h.signals), h.asked, step.signals, step.asked)
		}
		if h.silent && (len(h.answers()) > 0 || h.report().Ready) {
			t.Errorf("%s: it answers %v, %+v", step.name, h.answers(), h.report())
		}
	}
}

// TestApply_Reopen holds that a log file is opened again once, by a dnsmasq that runs.
func TestApply_Reopen(t *testing.T) {
	r, h := newRoom(t, plans.Managed)
	h.on(card(1))
	for i := range 4 {
		if i == 1 {
			r.Reopen()
		}
		if err := round(t, r, h); err != nil {
			t.Fatal(err)
		}
	}
	if want := []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR2}; !slices.Equal(h.signals, want) {
		t.Errorf("signals %v, want %v", h.signals, want)
	}
}

// TestApply_Faults holds that a server that cannot be what is ordered is not ready, and that its
// fence closes by itself.
func TestApply_Faults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(*fakeHost)
		why   string
	}{
		{"the engine fails", func(h *fakeHost) { h.fault = errors.New("pulls image x") }, "pulls image x"},
		{"the list cannot be written", func(h *fakeHost) { h.full = layout.DnsmasqHost; h.on(card(2)) }, "write " + layout.DnsmasqHost + ": no space left"},
		{"the orders cannot be read", func(h *fakeHost) { h.broken = errors.New("broken") }, "broken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, h := newRoom(t, plans.Managed)
			h.on(card(1))
			if err := round(t, r, h); err != nil || len(h.answers()) != 1 {
				t.Fatal(err, h.answers())
			}
			tt.fault(h)
			for range int(Open / time.Second) {
				if err := round(t, r, h); err == nil {
					t.Error("no error")
				}
			}
			if got := h.report(); len(h.answers()) != 0 || got.Ready || got.Why != tt.why || !got.On {
				t.Errorf("answers %v, reported %+v", h.answers(), got)
			}
		})
	}
}

// TestUnmanaged holds that there is no DHCP where it is the user's: no filter, no fence.
func TestUnmanaged(t *testing.T) {
	r, h := newRoom(t, plans.Unmanaged)
	h.on(card(1))
	if err := round(t, r, h); err != nil || !h.running || h.filter != nil || h.watched != "" || h.files[layout.DnsmasqHost] != "" || !h.report().Follows(h.orders, h.now) {
		t.Errorf("%v: %+v, filter %v, watched %q", err, h.report(), h.filter, h.watched)
	}
	if strings.Contains(h.files[layout.DnsmasqConf], "dhcp-range") {
		t.Error("dnsmasq answers DHCP")
	}
	h.address = ""
	if err := round(t, r, h); err != nil || h.report().Ready {
		t.Errorf("without the address: %v, %+v", err, h.report())
	}
}

func TestDisabled(t *testing.T) {
	r, h := newRoom(t, plans.Disabled)
	h.on(card(1))
	if err := round(t, r, h); err != nil || h.starts != 0 || !h.report().Follows(h.orders, h.now) {
		t.Errorf("on: %v, %d starts, %+v", err, h.starts, h.report())
	}
	h.off()
	if err := round(t, r, h); err != nil || !h.report().Follows(h.orders, h.now) {
		t.Errorf("off: %v, %+v", err, h.report())
	}
}

// TestLeave holds that a restart of this program costs no host an answer, that nothing answers
// without it for longer than the fence, and that a machine that is off keeps nothing.
func TestLeave(t *testing.T) {
	r, h := newRoom(t, plans.Managed)
	h.on(card(1))
	if err := round(t, r, h); err != nil {
		t.Fatal(err)
	}
	if err := r.Leave(t.Context()); err != nil || !h.running || len(h.answers()) != 1 {
		t.Errorf("a restart: %v, answers %v", err, h.answers())
	}
	starts, kept := h.starts, h.kept
	r = New(r.Options)
	if err := round(t, r, h); err != nil || h.starts != starts || h.kept != kept || len(h.answers()) != 1 {
		t.Errorf("the next run: %v, %d starts, %d changes of the filter", err, h.starts-starts, h.kept-kept)
	}
	if h.now = h.now.Add(Open); len(h.answers()) != 0 {
		t.Error("it answers without this program")
	}
	for name, broken := range map[string]error{"off": nil, "unknown orders": errors.New("broken")} {
		r, h := newRoom(t, plans.Managed)
		h.on(card(1))
		if err := round(t, r, h); err != nil {
			t.Fatal(err)
		}
		if h.broken = broken; broken == nil {
			h.off()
		}
		if err := r.Leave(t.Context()); err != nil || h.running || h.filter != nil {
			t.Errorf("%s: %v, running %t, filter %v", name, err, h.running, h.filter)
		}
	}
}

// TestPublish holds that a report is not taken for that of a program which has gone.
func TestPublish(t *testing.T) {
	r, h := newRoom(t, plans.Managed)
	if err := r.Publish(t.Context(), Desired{}); err != nil || len(h.reports) != 0 {
		t.Errorf("before the first round: %v, %v", err, h.reports)
	}
	h.on(card(1))
	if err := round(t, r, h); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		h.now = h.now.Add(time.Second)
		if err := r.Publish(t.Context(), Desired{}); err != nil {
			t.Fatal(err)
		}
		if !h.report().Follows(h.orders, h.now) || h.now.Sub(h.report().At) > 5*time.Second {
			t.Fatalf("reported %+v", h.report())
		}
	}
}

// TestPublish_Unreported holds that hosts are answered though no report can be written.
func TestPublish_Unreported(t *testing.T) {
	r, h := newRoom(t, plans.Managed)
	h.noReport = errors.New("no space left")
	h.on(card(1))
	for range int(2 * Open / time.Second) {
		if err := round(t, r, h); err == nil || err.Error() != "no space left" || len(h.answers()) != 1 {
			t.Fatalf("%v, answers %v", err, h.answers())
		}
	}
	h.noReport = nil
	if err := round(t, r, h); err != nil || !h.report().Follows(h.orders, h.now) {
		t.Errorf("%v, reported %+v", err, h.report())
	}
}

// TestContainer holds the least privilege that dnsmasq works with, and that directories are
// mounted: a file that is replaced would stay the old one.
func TestContainer(t *testing.T) {
	p := planned(plans.Managed)
	a, b := Container(p, []byte("a")), Container(p, []byte("b"))
	if a.Digest() == b.Digest() || a.Image != "registry.example.com/ironic:1" {
		t.Errorf("%+v is for both configurations", a)
	}
	writable := 0
	for _, m := range a.Mounts {
		if m.Source != m.Target || strings.HasSuffix(m.Source, ".conf") {
			t.Errorf("mounted is %+v", m)
		}
		if !m.ReadOnly {
			writable++
		}
	}
	if want := []string{"CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_NET_ADMIN"}; !slices.Equal(a.Capabilities, want) || writable != 2 || len(a.Mounts) != 3 {
		t.Errorf("%+v", a)
	}
}

// TestApply_Pool holds that with a pool every host is received but the listed ones that are not
// answered, also while no listed host is: the bootstrap machine has its own.
func TestApply_Pool(t *testing.T) {
	r, h := newRoom(t, plans.Managed)
	p := r.Plan.Provisioning
	p.Address, p.IP = plans.One, p.BootstrapIP
	p.DHCP.Pool = []subnet.Span{{First: netip.MustParseAddr("172.22.0.100"), Last: netip.MustParseAddr("172.22.0.110")}}
	r.Phase = provision.Cluster
	for _, tt := range []struct {
		hosts, dropped []mac.MAC
		why            string
	}{
		{[]mac.MAC{card(3)}, []mac.MAC{card(1), card(2)}, "answers 1 hosts and those that are not listed at 172.22.0.2 on eno2"},
		{nil, []mac.MAC{card(1), card(2), card(3)}, "answers 0 hosts and those that are not listed"},
	} {
		h.on(tt.hosts...)
		if err := round(t, r, h); err != nil {
			t.Fatal(err)
		}
		if !h.except || !slices.Equal(h.filter, tt.dropped) || !h.open.After(h.now) {
			t.Errorf("%v: drops %v of all %t, open until %v", tt.hosts, h.filter, h.except, h.open)
		}
		if conf := h.files[layout.DnsmasqConf]; !strings.Contains(conf, "\ndhcp-range=172.22.0.100,172.22.0.110,") || strings.Contains(conf, "dhcp-ignore") {
			t.Errorf("the configuration is\n%s", conf)
		}
		if why := h.report().Why; !h.report().Ready || !strings.HasPrefix(why, tt.why) {
			t.Errorf("%v: %+v", tt.hosts, h.report())
		}
	}
}
