package mdns

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// ours is what a cluster's name server wishes for.
var ours = Wish{Types: []Type{Workstation, Etcd}, Cluster: "ostest", Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")}}

// listener is a Browser that has looked once.
func listener(e *ether, w Wish) *Browser {
	b := NewBrowser(linkOf("192.0.2.200", "2001:db8::200"), w, even)
	e.carry(e.add(b, "192.0.2.200"), b.Tick(e.now))
	return b
}

// hosts are those that a browser knows, in words.
func hosts(b *Browser, now time.Time) string {
	var all []string
	for _, h := range b.Hosts(now) {
		all = append(all, fmt.Sprintf("%s%v", h.Name, h.Addresses))
	}
	return strings.Join(all, " ")
}

// TestBrowse has a browser beside hosts that come and go.
func TestBrowse(t *testing.T) {
	master := node("master-0", "192.0.2.10", "2001:db8::10")
	master.Services = append(master.Services, Service{Instance: "ostest Etcd-master-0", Type: Etcd, Port: 2380, TTL: 3200 * time.Second})
	foreign := node("alien-0", "192.0.2.50")
	foreign.Services[0].Instance = "ostest2 Workstation-alien-0"
	const all = "master-0[192.0.2.10 2001:db8::10]"
	t.Run("it hears a host that comes", func(t *testing.T) {
		e := newEther(t)
		b := listener(e, ours)
		e.run(time.Minute)
		e.add(announcer(master, e.now), "192.0.2.10")
		e.add(announcer(foreign, e.now), "192.0.2.50")
		e.run(time.Second)
		if got := hosts(b, e.now); got != all {
			t.Errorf("hosts %s, want %s", got, all)
		}
		want := []Endpoint{{Instance: "ostest Etcd-master-0", Host: "master-0", Port: 2380}}
		if got := b.Endpoints(e.now, Etcd); !slices.Equal(got, want) {
			t.Errorf("etcd at %+v, want %+v", got, want)
		}
	})
	t.Run("it asks for one that was there before", func(t *testing.T) {
		e, _ := established(t, master)
		b := listener(e, ours)
		e.run(200 * time.Millisecond)
		if got := hosts(b, e.now); got != all {
			t.Errorf("hosts %s, want %s", got, all)
		}
	})
	t.Run("it asks for addresses that were not told", func(t *testing.T) {
		e, _ := established(t, master)
		b := listener(e, Wish{Types: []Type{Workstation}, Cluster: "ostest"})
		e.inject("192.0.2.10:5353", response([]dns.RR{rr(t, `_workstation._tcp.local. 3200 IN PTR ostest\ Workstation-master-0._workstation._tcp.local.`)}, nil))
		e.run(time.Second)
		if got := hosts(b, e.now); got != all {
			t.Errorf("hosts %s, want %s", got, all)
		}
	})
	t.Run("it knows it for a day, with few questions", func(t *testing.T) {
		e, _ := established(t, master)
		b := listener(e, ours)
		for range 24 * 60 {
			e.run(time.Minute)
			if got := hosts(b, e.now); got != all {
				t.Fatalf("after %v hosts %s, want %s", e.now.Sub(start), got, all)
			}
		}
		// Addresses are true for 120 seconds and asked for anew at 80 % of that.
		if n := len(e.log); n > 24*3600*2/96*12/10 {
			t.Errorf("%d packets in a day", n)
		}
	})
	t.Run("a lost answer costs nothing", func(t *testing.T) {
		e, _ := established(t, master)
		b := listener(e, ours)
		e.run(10 * time.Second)
		e.members[0].off = true
		e.run(100 * time.Second) // the first question, at 80 %, is lost
		e.members[0].off = false
		e.run(time.Minute)
		if got := hosts(b, e.now); got != all {
			t.Errorf("hosts %s, want %s", got, all)
		}
	})
	t.Run("one that vanishes is forgotten within its time", func(t *testing.T) {
		e, _ := established(t, master)
		b := listener(e, ours)
		e.run(10 * time.Second)
		e.members[0].off = true
		e.clear()
		e.run(addressTTL)
		if got := hosts(b, e.now); got != "" {
			t.Errorf("hosts %s, want none", got)
		}
		var asked []time.Duration
		for _, s := range e.log {
			if s.msg.Question[0].Name == "master-0.local." {
				asked = append(asked, (s.after - e.log[0].after).Round(time.Second))
			}
		}
		first := asked[0]
		for i := range asked {
			asked[i] -= first
		}
		// At 80, 85, 90 and 95 %, and as a host that is not known.
		if want := []time.Duration{0, 6 * time.Second, 12 * time.Second, 18 * time.Second, 24 * time.Second}; !slices.Equal(asked[:min(len(asked), 5)], want) {
			t.Errorf("asked at %v, want %v", asked, want)
		}
	})
	t.Run("one that says goodbye is forgotten after a second", func(t *testing.T) {
		e, r := established(t, master)
		b := listener(e, ours)
		e.run(10 * time.Second)
		e.carry(e.members[0], r.Leave())
		e.run(900 * time.Millisecond)
		if got := hosts(b, e.now); got != all {
			t.Errorf("hosts %s, want %s", got, all)
		}
		e.run(101 * time.Millisecond)
		if got := hosts(b, e.now); got != "" || b.total != 0 || len(b.sources) != 0 {
			t.Errorf("hosts %s, want none; %d records of %v", got, b.total, b.sources)
		}
	})
	t.Run("one that comes back with another address has that one", func(t *testing.T) {
		e, _ := established(t, node("master-0", "192.0.2.10"))
		b := listener(e, ours)
		e.run(10 * time.Second)
		e.remove(e.members[0])
		e.add(announcer(node("master-0", "192.0.2.30"), e.now), "192.0.2.30")
		e.run(2 * time.Second)
		if got := hosts(b, e.now); got != "master-0[192.0.2.30]" {
			t.Errorf("hosts %s, want the new address", got)
		}
	})
}

// TestTwoHundred: so many hosts start at one instant, and every one is known.
func TestTwoHundred(t *testing.T) {
	e := newEther(t)
	b := listener(e, ours)
	for i := range 200 {
		e.add(announcer(node(fmt.Sprintf("worker-%d", i), fmt.Sprintf("192.0.2.%d", i+1)), e.now), fmt.Sprintf("192.0.2.%d", i+1)).deaf = true // of each other
		e.run(10 * time.Millisecond)
	}
	e.run(5 * time.Second)
	for _, m := range e.members {
		m.deaf = false
	}
	if n := len(b.Hosts(e.now)); n != 200 {
		t.Errorf("%d hosts, want 200", n)
	}
	e.clear()
	late := listener(e, ours)
	e.run(20 * time.Second)
	if n := len(late.Hosts(e.now)); n != 200 {
		t.Errorf("a late one knows %d hosts, want 200", n)
	}
	another := false
	for _, s := range e.log { // its second question knows what the first one brought
		another = another || !s.msg.Response && s.msg.Truncated
	}
	if !another {
		t.Error("what is known of 200 hosts fits into one packet")
	}
}

// TestMembers holds that etcd's list is that of the control plane nodes which are there, of five:
// without one that has vanished, without one that said goodbye, and with the one that takes its
// place, whatever it is called.
func TestMembers(t *testing.T) {
	e := newEther(t)
	b := listener(e, ours)
	member := func(name, address string) *Responder {
		h := node(name, address)
		h.Services = append(h.Services, Service{Instance: "ostest Etcd-" + name, Type: Etcd, Port: 2380, TTL: 3200 * time.Second})
		r := announcer(h, e.now)
		e.add(r, address)
		return r
	}
	var all []*Responder
	for i := range 5 {
		all = append(all, member(fmt.Sprintf("master-%d", i), fmt.Sprintf("192.0.2.%d", 10+i)))
	}
	list := func() (names []string) {
		for _, e := range b.Endpoints(e.now, Etcd) {
			names = append(names, e.Host)
		}
		return names
	}
	for _, step := range []struct {
		name string
		do   func()
		wait time.Duration
		want []string
	}{
		{"five announce themselves", func() {}, 10 * time.Second, []string{"master-0", "master-1", "master-2", "master-3", "master-4"}},
		{"one loses its power", func() { e.members[3].off = true }, addressTTL, []string{"master-0", "master-1", "master-3", "master-4"}},
		{"another takes its place", func() { member("rack7", "192.0.2.30") }, 2 * time.Second, []string{"master-0", "master-1", "master-3", "master-4", "rack7"}},
		{"one leaves in order", func() { e.carry(e.members[1], all[0].Leave()) }, time.Second, []string{"master-1", "master-3", "master-4", "rack7"}},
		{"it comes back with another address", func() {
			e.remove(e.members[1])
			member("master-0", "192.0.2.40")
		}, 2 * time.Second, []string{"master-0", "master-1", "master-3", "master-4", "rack7"}},
	} {
		step.do()
		e.run(step.wait)
		if got := list(); !slices.Equal(got, step.want) {
			t.Errorf("%s: etcd is %v, want %v", step.name, got, step.want)
		}
	}
	if got := hosts(b, e.now); !strings.Contains(got, "master-0[192.0.2.40]") {
		t.Errorf("hosts %s", got)
	}
}

// TestHostile is what must not be believed (M-10).
func TestHostile(t *testing.T) {
	const service = `ostest\ Workstation-x._workstation._tcp.local.`
	srv, a := service+" 120 IN SRV 0 0 42424 x.local.", "x.local. 120 IN A 192.0.2.66"
	for _, tt := range []struct {
		name, from string
		records    []string
		unicast    bool
		want       string
	}{
		{"a good one, as a judge of the others", "192.0.2.66:5353", []string{srv, a}, false, "x[192.0.2.66]"},
		{"in another order", "192.0.2.66:5353", []string{a, srv}, false, "x[192.0.2.66]"},
		{"from afar", "198.51.100.66:5353", []string{srv, a}, false, ""},
		{"from another port", "192.0.2.66:4000", []string{srv, a}, false, ""},
		{"to us alone", "192.0.2.66:5353", []string{srv, a}, true, ""},
		{"an address outside", "192.0.2.66:5353", []string{srv, "x.local. 120 IN A 203.0.113.66"}, false, ""},
		{"the loopback", "192.0.2.66:5353", []string{srv, "x.local. 120 IN A 127.0.0.1"}, false, ""},
		{"no address", "192.0.2.66:5353", []string{srv, "x.local. 120 IN A 0.0.0.0"}, false, ""},
		{"an IPv4 address as IPv6", "192.0.2.66:5353", []string{srv, "x.local. 120 IN AAAA ::ffff:192.0.2.66"}, false, ""},
		{"another cluster", "192.0.2.66:5353", []string{`other\ Workstation-x._workstation._tcp.local. 120 IN SRV 0 0 42424 x.local.`, a}, false, ""},
		{"a cluster whose name begins with ours", "192.0.2.66:5353", []string{`ostest2\ Workstation-x._workstation._tcp.local. 120 IN SRV 0 0 42424 x.local.`, a}, false, ""},
		{"another service", "192.0.2.66:5353", []string{`ostest\ Workstation-x._http._tcp.local. 120 IN SRV 0 0 42424 x.local.`, a}, false, ""},
		{"another domain", "192.0.2.66:5353", []string{`ostest\ Workstation-x._workstation._tcp.example.com. 120 IN SRV 0 0 42424 x.local.`, a}, false, ""},
		{"a service at another domain's name", "192.0.2.66:5353", []string{service + " 120 IN SRV 0 0 42424 api.example.com.", "api.example.com. 120 IN A 192.0.2.66"}, false, ""},
		{"a service at a name of another cluster", "192.0.2.66:5353", []string{service + " 120 IN SRV 0 0 42424 x.lab.local.", "x.lab.local. 120 IN A 192.0.2.66"}, false, ""},
		{"at a name of ours", "192.0.2.66:5353", []string{service + " 120 IN SRV 0 0 42424 x.ostest.local.", "x.ostest.local. 120 IN A 192.0.2.66"}, false, "x[192.0.2.66]"},
		{"a service at no name", "192.0.2.66:5353", []string{service + " 120 IN SRV 0 0 42424 .", ". 120 IN A 192.0.2.66"}, false, ""},
		{"an address without a service", "192.0.2.66:5353", []string{a}, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := NewBrowser(linkOf("192.0.2.200"), ours, even)
			m := response(nil, nil)
			for _, text := range tt.records {
				m.Answer = append(m.Answer, rr(t, text))
			}
			data, err := m.Pack()
			if err != nil {
				t.Fatal(err)
			}
			b.Receive(start, Packet{From: netip.MustParseAddrPort(tt.from), Multicast: !tt.unicast, Data: data})
			b.Tick(start)
			if got := hosts(b, start); got != tt.want {
				t.Errorf("believes %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("a flood from one source", func(t *testing.T) {
		b := NewBrowser(linkOf("192.0.2.200"), ours, even)
		for i := range 1000 {
			flood(t, b, "192.0.2.66:5353", i)
		}
		if b.total > mostOfOne {
			t.Errorf("%d records of one source", b.total)
		}
	})
	t.Run("a flood from many", func(t *testing.T) {
		b := NewBrowser(linkOf("2001:db8::1"), ours, even)
		for i := range 2 * mostRecords / mostOfOne * mostOfOne {
			flood(t, b, fmt.Sprintf("[2001:db8::%x]:5353", i/mostOfOne+2), i)
		}
		if b.total > mostRecords {
			t.Errorf("%d records", b.total)
		}
	})
	t.Run("who may not be believed flushes nothing", func(t *testing.T) {
		e, _ := established(t, node("x", "192.0.2.10"))
		b := listener(e, ours)
		e.run(10 * time.Second)
		e.members[0].off = true
		bad := rr(t, "x.local. 120 IN A 203.0.113.66")
		bad.Header().Class |= topBit
		e.inject("192.0.2.66:5353", response([]dns.RR{bad}, nil))
		e.run(2 * time.Second)
		if got := hosts(b, e.now); got != "x[192.0.2.10]" {
			t.Errorf("believes %q", got)
		}
	})
}

// flood announces the i-th of many services.
func flood(t *testing.T, b *Browser, from string, i int) {
	t.Helper()
	m := response([]dns.RR{rr(t, fmt.Sprintf(`ostest\ %d._workstation._tcp.local. 3200 IN SRV 0 0 1 h%d.local.`, i, i))}, nil)
	data, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	b.Receive(start, Packet{From: netip.MustParseAddrPort(from), Multicast: true, Data: data})
}
