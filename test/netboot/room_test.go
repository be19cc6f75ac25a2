package netboot

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/bootserver"
	"github.com/onprem-infra/onprem-infra/shared/container"
	servers "github.com/onprem-infra/onprem-infra/shared/host/dhcp"
	filters "github.com/onprem-infra/onprem-infra/shared/host/nft/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/tail"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	plans "github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// planOf is a plan with the hosts 10 and 11 in the bootstrap phase and 20 in the cluster's.
func planOf(prefix netip.Prefix, server, other string) plan.Plan {
	p := &provision.Plan{Network: plans.Managed, CIDR: prefix, Address: plans.Two,
		BootstrapIP: netip.MustParseAddr(server), IP: netip.MustParseAddr(other),
		DHCP: &provision.DHCP{LeaseSeconds: 3600}}
	if prefix.Addr().Is6() {
		p.DHCP.Block = 126
	}
	for number, phase := range map[byte]provision.Phase{10: provision.Bootstrap,
		11: provision.Bootstrap, 20: provision.Cluster} {
		p.Hosts = append(p.Hosts, provision.Host{Phase: phase, MAC: card(number),
			Address: reserved(prefix, card(number)), Boot: provision.PXEUEFI})
	}
	return plan.Plan{Provisioning: p, Ports: map[string]uint16{port.ProvisioningHTTP: 6180}}
}

// provisioner is a host of the lab as the room of a bootstrap machine sees it. dnsmasq is a process and
// no container, and the room's paths are below a directory of the test's.
type provisioner struct {
	t      *testing.T
	on     *lab.Host
	dir    string
	server netip.Prefix

	orders orders.Orders
	last   orders.Report
	cmd    *exec.Cmd
	exited chan struct{}
	digest string
}

func newProvisioner(t *testing.T, on *lab.Host, server string) *provisioner {
	t.Helper()
	m := &provisioner{t: t, on: on, dir: t.TempDir(), server: netip.MustParsePrefix(server)}
	for _, dir := range []string{layout.TFTP, layout.HTTP, layout.Leases} {
		if err := os.MkdirAll(m.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{layout.TFTP, layout.HTTP} {
		if err := os.WriteFile(m.path(root+"/snponly.efi"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(m.kill)
	return m
}

// path is a path of the room in the test's directory, or a text with such paths.
func (m *provisioner) path(text string) string {
	return strings.NewReplacer(layout.State, m.dir+"/state", layout.Run, m.dir+"/run").
		Replace(text)
}

func (m *provisioner) Orders() (orders.Orders, error) { return m.orders, nil }
func (m *provisioner) Report(r orders.Report) error   { m.last = r; return nil }
func (m *provisioner) Watch(string)                   {}
func (m *provisioner) Ready() error                   { return nil }
func (m *provisioner) Status(string) error            { return nil }

func (m *provisioner) Links() (addr.Snapshot, error) {
	return addr.Snapshot{Links: []addr.Link{{Name: "eth0",
		Addresses: []addr.Address{{Prefix: m.server}}}}}, nil
}

func (m *provisioner) Exists(path string) bool {
	_, err := os.Stat(m.path(path))
	return err == nil
}

func (m *provisioner) Write(f asset.File) (bool, error) {
	path, text := m.path(f.Path), m.path(string(f.Contents))
	if former, err := os.ReadFile(path); err == nil && string(former) == text {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	return true, os.WriteFile(path, []byte(text), f.Mode)
}

func (m *provisioner) Answers(ctx context.Context, server netip.Addr, file string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for ctx.Err() == nil {
		err = m.on.Do(func() error {
			ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
			defer cancel()
			return probe.TFTP(ctx, netip.AddrPortFrom(server, 69), file)
		})
		if err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

func (m *provisioner) Keep(link string, from bootserver.Clients) error {
	return m.on.Do(func() error {
		_, err := filters.Keep(filters.Filter{Link: link, Hosts: from.Hosts, Except: from.Except, Fenced: true})
		return err
	})
}

func (m *provisioner) Allow(d time.Duration) error {
	return m.on.Do(func() error { return filters.Allow(d) })
}
func (m *provisioner) Close() error  { return m.on.Do(filters.Close) }
func (m *provisioner) Remove() error { return m.on.Do(filters.Remove) }

func (m *provisioner) Ensure(_ context.Context, c container.Spec) error {
	if m.Running() && m.digest == c.Digest() {
		return nil
	}
	m.kill()
	m.cmd = m.on.Command(context.Background(), need.Command(m.t, c.Command[0]), "-C",
		m.path(c.Command[2]))
	m.exited, m.digest = make(chan struct{}), c.Digest()
	if err := m.cmd.Start(); err != nil {
		return err
	}
	go func(cmd *exec.Cmd, exited chan struct{}) { defer close(exited); _ = cmd.Wait() }(
		m.cmd, m.exited)
	return nil
}

func (m *provisioner) Running() bool {
	if m.cmd == nil {
		return false
	}
	select {
	case <-m.exited:
		return false
	default:
		return true
	}
}

func (m *provisioner) Signal(s syscall.Signal) error { return m.cmd.Process.Signal(s) }

func (m *provisioner) Stop(context.Context, string) error {
	if m.Running() {
		_ = m.cmd.Process.Signal(syscall.SIGTERM)
		<-m.exited
	}
	return nil
}

func (m *provisioner) kill() {
	if m.Running() {
		_ = m.cmd.Process.Kill()
		<-m.exited
	}
}

// round is one of the room's.
func (m *provisioner) round(r *bootserver.Room) {
	m.t.Helper()
	s, err := r.Observe(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	d, _ := r.Decide(s)
	if err := errors.Join(r.Publish(m.t.Context(), d), r.Apply(m.t.Context(), d)); err != nil {
		m.t.Fatal(err)
	}
}

func (m *provisioner) on4(generation int64, hosts ...mac.MAC) {
	m.orders = orders.Orders{Generation: generation, On: orders.Parts(), Hosts: hosts}
}

// TestRoom has the bootstrap machine's room drive the real dnsmasq behind the real packet filter.
// Only hosts of the orders get an answer, whatever dnsmasq knows; after "off" nothing is sent; and
// without its program the fence closes by itself.
func TestRoom(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	m := newProvisioner(t, add(t, l, "bootstrap", "172.22.0.2/24"), "172.22.0.2/24")
	p := planOf(netip.MustParsePrefix("172.22.0.0/24"), "172.22.0.2", "172.22.0.3")
	o := bootserver.Options{Plan: p, Phase: provision.Bootstrap, Host: m, Fence: m, Daemon: m, Notifier: m, Now: time.Now}
	r := bootserver.New(o)
	w := openWire(t, add(t, l, "client"))
	asks := func(number byte) string { return kinds(w.ask(t, discover(t, card(number)), 0)) }
	// ask asks while rounds go on, as the fence needs them.
	ask := func(want string, numbers ...byte) {
		t.Helper()
		for _, number := range numbers {
			m.round(r)
			if err := errorOf(m, r); err != nil {
				t.Fatal(err)
			}
			if got := asks(number); got != want {
				t.Errorf("generation %d: host %d got %q, want %q", m.orders.Generation, number,
					got, want)
			}
		}
	}
	ask("", 10, 11, 20)
	m.on4(1, card(10))
	ask("OFFER 172.22.0.10", 10)
	ask("", 11, 20, 99)
	pid := m.cmd.Process.Pid
	m.on4(2, card(11), card(20))
	m.round(r)
	if m.last.Ready || !strings.Contains(m.last.Why, card(20).String()) {
		t.Errorf("a host of the cluster's phase: %+v", m.last)
	}
	ask("OFFER 172.22.0.11", 11)
	ask("", 10, 20)
	if m.cmd.Process.Pid != pid {
		t.Error("another set of hosts started dnsmasq again")
	}
	// The program is killed: dnsmasq goes on, and its answers end within the time of the fence.
	m.round(r)
	time.Sleep(bootserver.Open + 500*time.Millisecond)
	if got := asks(11); got != "" || !m.Running() {
		t.Errorf("without the program host 11 got %q, dnsmasq runs: %t", got, m.Running())
	}
	r = bootserver.New(o) // and is started again beside it
	ask("OFFER 172.22.0.11", 11)
	m.orders = orders.Orders{Generation: 3}
	m.round(r)
	if m.Running() || m.last.On || !m.last.Ready {
		t.Errorf("off: dnsmasq runs: %t, %+v", m.Running(), m.last)
	}
	ask("", 10, 11, 20)
}

// errorOf is what keeps the room from its orders.
func errorOf(m *provisioner, _ *bootserver.Room) error {
	if !m.last.Ready && !strings.Contains(m.last.Why, "no host of this phase") {
		return errors.New(m.last.Why)
	}
	return nil
}

// TestRoom_Events holds that what the real dnsmasq logs of a host is kept once, also when its log
// file is replaced, and that the room's own probe is not.
func TestRoom_Events(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	m := newProvisioner(t, add(t, l, "bootstrap", "172.22.0.2/24"), "172.22.0.2/24")
	p := planOf(netip.MustParsePrefix("172.22.0.0/24"), "172.22.0.2", "172.22.0.3")
	r := bootserver.New(bootserver.Options{Plan: p, Phase: provision.Bootstrap, Host: m, Fence: m, Daemon: m, Notifier: m, Now: time.Now})
	seen := bootserver.NewSeen(p.Provisioning, provision.Bootstrap, foreign.List{})
	log := tail.Log{Path: m.path(layout.DnsmasqLog), Limit: 1000, Reopen: func() error {
		r.Reopen()
		m.round(r)
		return nil
	}}
	defer log.Close()
	var all []events.Event
	read := func() {
		lines, err := log.Lines()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, seen.Lines(time.Now(), lines)...)
	}
	m.on4(1, card(10))
	m.round(r)
	w := openWire(t, add(t, l, "client"))
	const boots = 12
	for range boots {
		m.round(r)
		w.one(t, request(t, w.one(t, discover(t, card(10)))))
		read()
	}
	count := func(kind string) (n int) {
		for _, e := range all {
			if e.Kind == kind && e.MAC == card(10) {
				n++
			}
		}
		return n
	}
	wait(t, "all events", func() bool { read(); return count("ack") == boots })
	if count("discover") != boots || count("offer") != boots {
		t.Errorf("kept %+v", all)
	}
	for _, e := range all {
		if strings.Contains(e.Detail, bootserver.Asked) {
			t.Errorf("the room's own probe is kept: %+v", e)
		}
	}
	if _, err := os.Stat(m.path(layout.DnsmasqLog) + ".1"); err != nil {
		t.Errorf("the log was not replaced: %v", err)
	}
}

// TestRoom_Foreign holds that another server is named after its first packet to all hosts, by MAC, in
// both families, and that the bootstrap machine's own is not.
func TestRoom_Foreign(t *testing.T) {
	t.Parallel()
	for family, tt := range map[string]struct {
		own, other string
		serve      func(t *testing.T, on *lab.Host)
		ask        func(t *testing.T, l *lab.Lab)
		kind       offer.Kind // of its first packet that every host of the link receives
		within     time.Duration
	}{
		"IPv4": {"172.22.0.2/24", "172.22.0.9/24",
			func(t *testing.T, on *lab.Host) { serve(t, on, network4("172.22.0.9", card(30))) },
			func(t *testing.T, l *lab.Lab) {
				openWire(t, add(t, l, "client")).one(t, discover(t, card(30)))
			}, offer.DHCP, 2 * time.Second},
		"IPv6": {"fd00:22::2/64", "fd00:22::9/64",
			func(t *testing.T, on *lab.Host) { serve(t, on, network6("fd00:22::9", card(30))) },
			func(t *testing.T, l *lab.Lab) {
				c := addClient6(t, l, "client", card(30))
				c.one(t, c.solicit(t, 1))
				// All other packets go to the host that asked, which a switch shows to no other. When the
				// first one goes to all hosts is the server's choice.
			}, offer.Router, 12 * time.Second},
	} {
		t.Run(family, func(t *testing.T) {
			l := lab.New(t)
			on := add(t, l, "bootstrap", tt.own)
			p := planOf(netip.MustParsePrefix(tt.own).Masked(),
				netip.MustParsePrefix(tt.own).Addr().String(), "172.22.0.3")
			seen := bootserver.NewSeen(p.Provisioning, provision.Bootstrap, foreign.List{})
			var mu sync.Mutex
			at := map[offer.Kind]time.Time{}
			listens := make(chan struct{}, 8)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- on.Do(func() error {
					servers.Watcher{Link: "eth0", Expected: seen.Expected, Repeat: time.Second,
						Listens: func(err error) {
							if err == nil {
								listens <- struct{}{}
							}
						},
						Report: func(s offer.Server) {
							if _, first := seen.Foreign(s); first != nil {
								mu.Lock()
								defer mu.Unlock()
								at[first.Kind] = time.Now()
							}
						}}.Watch(ctx)
					return nil
				})
			}()
			defer func() { cancel(); <-ended }()
			<-listens
			tt.serve(t, add(t, l, "foreign", tt.other))
			tt.ask(t, l)
			answered := time.Now()
			wait(t, "the foreign server to be named", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return !at[tt.kind].IsZero()
			})
			mu.Lock()
			defer mu.Unlock()
			if late := at[tt.kind].Sub(answered); late > tt.within {
				t.Errorf("named %v after its answer", late)
			}
		})
	}
}
