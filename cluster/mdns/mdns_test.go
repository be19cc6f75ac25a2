package mdns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/announce"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/browse"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// fakeHost is a FAKE: a machine with the state that a test sets, with a listener on each of its
// interfaces.
type fakeHost struct {
	mu       sync.Mutex
	links    addr.Snapshot
	agreed   []netip.Addr
	hostname string
	cluster  string // that listeners look for; empty: ostest
	fails    bool   // sockets cannot be made
	lines    []*fakeLine
	wakes    int
}

func (h *fakeHost) Links() (addr.Snapshot, error) { return h.links, nil }
func (h *fakeHost) Agreed() ([]netip.Addr, error) { return h.agreed, nil }
func (h *fakeHost) Hostname() (string, error)     { return h.hostname, nil }
func (h *fakeHost) Wake()                         { h.mu.Lock(); defer h.mu.Unlock(); h.wakes++ }
func (h *fakeHost) last() *fakeLine               { return h.lines[len(h.lines)-1] }
func (h *fakeHost) open() (n int)                 { return len(h.lines) }
func (h *fakeHost) address(link int, a ...string) { h.links.Links[link].Addresses = prefixes(a) }

func (h *fakeHost) Open(_ context.Context, w Where, receive func(wire.Packet), failed func(error)) (Line, error) {
	if h.fails {
		return nil, errors.New("no such device")
	}
	wish := browse.Wish{Types: []wire.Type{wire.Workstation, wire.Etcd}, Cluster: cmp.Or(h.cluster, "ostest")}
	near := wire.Link{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")}
	l := &fakeLine{where: w, receive: receive, failed: failed, listener: browse.New(near, wish, func(low, _ time.Duration) time.Duration { return low })}
	h.lines = append(h.lines, l)
	return l, nil
}

// fakeLine is a FAKE of sockets: one browser receives what is sent.
type fakeLine struct {
	mu       sync.Mutex
	where    Where
	receive  func(wire.Packet)
	failed   func(error)
	listener *browse.Browser
	sent     int
	fails    error
	closed   bool
}

func (l *fakeLine) Send(o wire.Outgoing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails != nil {
		return l.fails
	}
	l.sent++
	l.listener.Receive(time.Now(), wire.Packet{From: netip.MustParseAddrPort("192.0.2.10:5353"), Multicast: true, Data: o.Data})
	return nil
}

func (l *fakeLine) Close() { l.mu.Lock(); defer l.mu.Unlock(); l.closed = true }

// known are the hosts in the browser's cache, as text.
func (l *fakeLine) known() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener.Tick(time.Now())
	var all []string
	for _, h := range l.listener.Hosts(time.Now()) {
		all = append(all, fmt.Sprint(h.Name, h.Addresses))
	}
	for _, e := range l.listener.Endpoints(time.Now(), wire.Etcd) {
		all = append(all, fmt.Sprintf("etcd at %s:%d", e.Host, e.Port))
	}
	return strings.Join(all, " ")
}

func prefixes(texts []string) (all []addr.Address) {
	for _, text := range texts {
		tentative := strings.HasSuffix(text, " tentative")
		all = append(all, addr.Address{Prefix: netip.MustParsePrefix(strings.TrimSuffix(text, " tentative")), Tentative: tentative})
	}
	return all
}

// machine is a host with two interfaces, eth0 and br-ex, of which the first has the addresses.
func machine(addresses ...string) *fakeHost {
	h := &fakeHost{hostname: "master-0.ostest.example.com", agreed: []netip.Addr{netip.MustParseAddr("192.0.2.10")}}
	h.links.Links = []addr.Link{{Index: 2, Name: "eth0", Up: true, Addresses: prefixes(addresses)}, {Index: 3, Name: "br-ex", Up: true}}
	return h
}

func room(t *testing.T, h *fakeHost, r role.Role, change ...func(*spec.Cluster)) *Room {
	t.Helper()
	c := spec.Cluster{Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, MDNS: spec.MDNSEnabled,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")}}
	for _, f := range change {
		f(&c)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return New(p, r, h, func(low, _ time.Duration) time.Duration { return low })
}

// reconcile runs one round of the loop, and lets some time pass.
func reconcile(t *testing.T, r *Room, after time.Duration) ([]string, error) {
	t.Helper()
	s, err := r.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, why := r.Decide(s)
	err = r.Apply(t.Context(), d)
	time.Sleep(after)
	synctest.Wait()
	return why, err
}

// virtually runs a test in virtual time.
func virtually(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

const lan4, other4 = "192.0.2.10/24", "192.0.2.20/24"

func TestDecide(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*fakeHost)
		role   role.Role
		input  func(*spec.Cluster)
		want   string // name, addresses and services of each host; empty for nothing
		where  Where
		why    string
	}{
		{name: "a master", role: role.Master, where: Where{2, "eth0", netip.MustParseAddr("192.0.2.10"), false},
			want: "master-0 [192.0.2.10] ostest Workstation-master-0 _workstation._tcp 42424 53m20s, ostest Etcd-master-0 _etcd-server-ssl._tcp 2380 53m20s; " +
				"etcd-0 [192.0.2.10] ostest EtcdWorkstation-master-0 _workstation._tcp 42424 5m0s", why: "master-0 is [192.0.2.10] on eth0 (node-ip)"},
		{name: "a worker", role: role.Worker, change: func(h *fakeHost) { h.hostname = "Worker-1" },
			where: Where{2, "eth0", netip.MustParseAddr("192.0.2.10"), false}, want: "worker-1 [192.0.2.10] ostest Workstation-worker-1 _workstation._tcp 42424 53m20s"},
		{name: "a master of any name has a member too", role: role.Master, change: func(h *fakeHost) { h.hostname = "rack7.example.com" },
			where: Where{2, "eth0", netip.MustParseAddr("192.0.2.10"), false},
			want:  "rack7 [192.0.2.10] ostest Workstation-rack7 _workstation._tcp 42424 53m20s, ostest Etcd-rack7 _etcd-server-ssl._tcp 2380 53m20s"},
		{name: "both families", role: role.Worker, change: func(h *fakeHost) {
			h.address(0, lan4, "192.0.2.5/24", "2001:db8::10/64", "2001:db8::99/64", "fe80::1/64")
			h.agreed = append(h.agreed, netip.MustParseAddr("2001:db8::10"))
		}, where: Where{2, "eth0", netip.MustParseAddr("192.0.2.10"), true}, want: "master-0 [192.0.2.10 2001:db8::10] ostest Workstation-master-0 _workstation._tcp 42424 53m20s"},
		{name: "IPv6 alone", role: role.Worker, change: func(h *fakeHost) {
			h.address(0, "2001:db8::10/64", "fe80::1/64")
			h.agreed = []netip.Addr{netip.MustParseAddr("2001:db8::10")}
		}, where: Where{2, "eth0", netip.Addr{}, true}, want: "master-0 [2001:db8::10] ostest Workstation-master-0 _workstation._tcp 42424 53m20s"},
		{name: "node-ip has not chosen yet", role: role.Worker, change: func(h *fakeHost) { h.agreed = nil },
			where: Where{2, "eth0", netip.MustParseAddr("192.0.2.10"), false}, want: "master-0 [192.0.2.10] ostest Workstation-master-0 _workstation._tcp 42424 53m20s", why: "as node-ip would choose"},
		{name: "localhost (M-05)", role: role.Worker, change: func(h *fakeHost) { h.hostname = "localhost" }, why: "wait for a host name"},
		{name: "localhost.localdomain (M-05)", role: role.Worker, change: func(h *fakeHost) { h.hostname = "localhost.localdomain\n" }, why: "wait for a host name"},
		{name: "LOCALHOST", role: role.Worker, change: func(h *fakeHost) { h.hostname = "LOCALHOST" }, why: "wait for a host name"},
		{name: "(none)", role: role.Worker, change: func(h *fakeHost) { h.hostname = "(none)" }, why: "wait for a host name"},
		{name: "the address is on no interface", role: role.Worker, change: func(h *fakeHost) { h.address(0) }, why: "wait until an interface has 192.0.2.10"},
		{name: "the address cannot be used yet", role: role.Worker, change: func(h *fakeHost) { h.address(0, lan4+" tentative") }, why: "wait until an interface has 192.0.2.10"},
		{name: "the interface is down", role: role.Worker, change: func(h *fakeHost) { h.links.Links[0].Up = false }, why: "wait until an interface has 192.0.2.10"},
		{name: "off", role: role.Worker, input: func(c *spec.Cluster) { c.MDNS = "" }, why: "the cluster does not use multicast DNS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := machine(lan4)
			if tt.change != nil {
				tt.change(h)
			}
			if tt.input == nil {
				tt.input = func(*spec.Cluster) {}
			}
			r := room(t, h, tt.role, tt.input)
			s, err := r.Observe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			d, why := r.Decide(s)
			var got []string
			for _, h := range d.Hosts {
				var services []string
				for _, s := range h.Services {
					services = append(services, fmt.Sprint(s.Instance, " ", s.Type, " ", s.Port, " ", s.TTL))
				}
				got = append(got, fmt.Sprint(h.Name, " ", h.Addresses, " ", strings.Join(services, ", ")))
			}
			if strings.Join(got, "; ") != tt.want || d.Where != tt.where || !strings.Contains(strings.Join(why, "; "), tt.why) {
				t.Errorf("announces %q on %+v because of %q,\nwant %q on %+v because of %q", got, d.Where, why, tt.want, tt.where, tt.why)
			}
		})
	}
}

const all = "etcd-0[192.0.2.10] master-0[192.0.2.10] etcd at master-0:2380"

func TestRoom(t *testing.T) {
	virtually(t, "it announces, and sends a goodbye", func(t *testing.T) {
		h := machine(lan4)
		r := room(t, h, role.Master)
		if _, err := reconcile(t, r, 3*time.Second); err != nil || h.last().known() != all {
			t.Errorf("others know %q, %v, want %q", h.last().known(), err, all)
		}
		if err := r.Leave(t.Context()); err != nil || !h.last().closed {
			t.Errorf("left with %v, closed %v", err, h.last().closed)
		}
		time.Sleep(time.Second)
		if got := h.last().known(); got != "" {
			t.Errorf("after the goodbye others know %q", got)
		}
	})
	virtually(t, "a cluster's name of any length is found, and no other", func(t *testing.T) {
		for size := 1; size <= 63; size++ {
			name := strings.Repeat("c", size)
			for _, other := range []string{name, name[1:] + "d"} {
				h := machine(lan4)
				h.hostname, h.cluster = "control-plane-0", other
				r := room(t, h, role.Master, func(c *spec.Cluster) { c.Name = name })
				reconcile(t, r, 3*time.Second)
				want := "control-plane-0[192.0.2.10] etcd-0[192.0.2.10] etcd at control-plane-0:2380"
				if other != name {
					want = ""
				}
				if got := h.last().known(); got != want {
					t.Errorf("of a name of %d bytes %q knows %q, want %q", size, other, got, want)
				}
				r.quit(false)
			}
		}
	})
	virtually(t, "rounds without a change send nothing", func(t *testing.T) {
		h := machine(lan4)
		r := room(t, h, role.Master)
		reconcile(t, r, 3*time.Second)
		before := h.last().sent
		for range 10 {
			reconcile(t, r, 5*time.Second)
		}
		if h.open() != 1 || h.last().sent != before {
			t.Errorf("opened %d times, sent %d and then %d packets", h.open(), before, h.last().sent)
		}
		r.quit(false)
	})
	virtually(t, "the address moves to a bridge (M-02)", func(t *testing.T) {
		h := machine(lan4)
		r := room(t, h, role.Master)
		reconcile(t, r, 3*time.Second)
		h.address(0)
		if why, _ := reconcile(t, r, time.Second); !strings.Contains(strings.Join(why, ""), "wait until") || !h.lines[0].closed {
			t.Errorf("while no interface has the address: %q", why)
		}
		h.address(1, lan4)
		reconcile(t, r, 3*time.Second)
		if h.open() != 2 || h.last().where.Name != "br-ex" || h.last().known() != all {
			t.Errorf("opened %d times, last on %+v, where others know %q", h.open(), h.last().where, h.last().known())
		}
		r.quit(false)
	})
	virtually(t, "another address on the same interface", func(t *testing.T) {
		h := machine(lan4)
		r := room(t, h, role.Worker)
		reconcile(t, r, 3*time.Second)
		first := h.last()
		h.address(0, other4)
		h.agreed = []netip.Addr{netip.MustParseAddr("192.0.2.20")}
		reconcile(t, r, 3*time.Second)
		if got := h.last().known(); got != "master-0[192.0.2.20]" || !first.closed {
			t.Errorf("others know %q", got)
		}
		r.quit(false)
	})
	virtually(t, "the host gets its name later (M-05)", func(t *testing.T) {
		h := machine(lan4)
		h.hostname = "localhost"
		r := room(t, h, role.Worker)
		reconcile(t, r, time.Minute)
		if h.open() != 0 {
			t.Error("localhost was announced")
		}
		h.hostname = "worker-3"
		reconcile(t, r, 3*time.Second)
		if got := h.last().known(); got != "worker-3[192.0.2.10]" {
			t.Errorf("others know %q", got)
		}
		h.hostname = "localhost.localdomain"
		reconcile(t, r, 2*time.Second)
		if got := h.last().known(); got != "" {
			t.Errorf("a host that lost its name is still known: %q", got)
		}
	})
	virtually(t, "another host has the name", func(t *testing.T) {
		h := machine(lan4)
		r := room(t, h, role.Worker)
		reconcile(t, r, 300*time.Millisecond)
		rival := announce.New(nil, func(low, _ time.Duration) time.Duration { return low })
		link := wire.Link{netip.MustParsePrefix("192.0.2.77/24")}
		long := time.Now().Add(-time.Hour)
		rival.Set(long, link, []wire.Host{{Name: "master-0", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.77")}}})
		var sent []wire.Outgoing
		for range 4 { // three questions, and then what it is known by
			sent = rival.Tick(long)
			long = long.Add(250 * time.Millisecond)
		}
		h.last().receive(wire.Packet{From: netip.MustParseAddrPort("192.0.2.77:5353"), Multicast: true, Data: sent[0].Data})
		synctest.Wait()
		h.mu.Lock()
		wakes := h.wakes
		h.mu.Unlock()
		why, _ := reconcile(t, r, 0)
		if want := "not announced: 192.0.2.77 has the name master-0; give one of the two hosts another one"; !slices.Contains(why, want) || wakes == 0 {
			t.Errorf("%d wake-ups, reasons %q, want %q", wakes, why, want)
		}
		r.quit(false)
	})
	virtually(t, "IPv6 becomes usable later", func(t *testing.T) {
		h := machine(lan4)
		r := room(t, h, role.Worker)
		reconcile(t, r, 3*time.Second)
		first := h.last()
		h.address(0, lan4, "fe80::1/64")
		reconcile(t, r, 0)
		if h.open() != 2 || !first.closed || !h.last().where.IPv6 {
			t.Fatalf("opened %d times", h.open())
		}
		// It has its name at once, so no other host can take it meanwhile.
		if got := h.last().known(); got != "master-0[192.0.2.10]" {
			t.Errorf("others know %q", got)
		}
		r.quit(false)
	})
	virtually(t, "sockets that cannot be made are made later", func(t *testing.T) {
		h := machine(lan4)
		h.fails = true
		r := room(t, h, role.Worker)
		if _, err := reconcile(t, r, time.Second); err == nil || !strings.Contains(err.Error(), "announce on eth0: no such device") {
			t.Errorf("error %v", err)
		}
		h.fails = false
		if _, err := reconcile(t, r, 3*time.Second); err != nil || h.last().known() == "" {
			t.Errorf("error %v, others know %q", err, h.last().known())
		}
		r.quit(false)
	})
	virtually(t, "sockets that end are replaced", func(t *testing.T) {
		h := machine(lan4)
		r := room(t, h, role.Worker)
		reconcile(t, r, 3*time.Second)
		h.last().failed(errors.New("receive on interface 2: broken"))
		synctest.Wait()
		reconcile(t, r, 3*time.Second)
		if h.open() != 2 || h.last().known() == "" {
			t.Errorf("opened %d times", h.open())
		}
		r.quit(false)
	})
	virtually(t, "a packet that cannot be sent is an error, until one can", func(t *testing.T) {
		h := machine(lan4)
		r := room(t, h, role.Worker)
		reconcile(t, r, 3*time.Second)
		h.last().mu.Lock()
		h.last().fails = errors.New("network is unreachable")
		h.last().mu.Unlock()
		h.address(0, lan4, "2001:db8::10/64")
		h.agreed = append(h.agreed, netip.MustParseAddr("2001:db8::10"))
		reconcile(t, r, 3*time.Second)
		if _, err := reconcile(t, r, 0); err == nil || !strings.Contains(err.Error(), "unreachable") {
			t.Errorf("error %v", err)
		}
		r.quit(false)
	})
}
