package browse

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/announce"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/test/mdnslink"
)

// ours is what a cluster's name server wishes for.
var ours = Wish{Types: []wire.Type{wire.Workstation, wire.Etcd}, Cluster: "ostest", Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")}}

// listener is a Browser that has asked once.
func listener(e *mdnslink.Link, w Wish) *Browser {
	b := New(mdnslink.On("192.0.2.200", "2001:db8::200"), w, mdnslink.Even)
	e.Deliver(e.Add(b, "192.0.2.200"), b.Tick(e.Now))
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
	master.Services = append(master.Services, wire.Service{Instance: "ostest Etcd-master-0", Type: wire.Etcd, Port: 2380, TTL: 3200 * time.Second})
	foreign := node("alien-0", "192.0.2.50")
	foreign.Services[0].Instance = "ostest2 Workstation-alien-0"
	const all = "master-0[192.0.2.10 2001:db8::10]"
	t.Run("it receives a host that comes", func(t *testing.T) {
		e := mdnslink.New(t)
		b := listener(e, ours)
		e.Run(time.Minute)
		e.Add(announcer(master, e.Now), "192.0.2.10")
		e.Add(announcer(foreign, e.Now), "192.0.2.50")
		e.Run(time.Second)
		if got := hosts(b, e.Now); got != all {
			t.Errorf("hosts %s, want %s", got, all)
		}
		want := []Endpoint{{Instance: "ostest Etcd-master-0", Host: "master-0", Port: 2380}}
		if got := b.Endpoints(e.Now, wire.Etcd); !slices.Equal(got, want) {
			t.Errorf("etcd at %+v, want %+v", got, want)
		}
	})
	t.Run("it asks for one that was there before", func(t *testing.T) {
		e, _ := established(t, master)
		b := listener(e, ours)
		e.Run(200 * time.Millisecond)
		if got := hosts(b, e.Now); got != all {
			t.Errorf("hosts %s, want %s", got, all)
		}
	})
	t.Run("it asks for addresses that were not announced", func(t *testing.T) {
		e, _ := established(t, master)
		b := listener(e, Wish{Types: []wire.Type{wire.Workstation}, Cluster: "ostest"})
		e.Inject("192.0.2.10:5353", wire.Response([]dns.RR{mdnslink.RR(t, `_workstation._tcp.local. 3200 IN PTR ostest\ Workstation-master-0._workstation._tcp.local.`)}, nil))
		e.Run(time.Second)
		if got := hosts(b, e.Now); got != all {
			t.Errorf("hosts %s, want %s", got, all)
		}
	})
	t.Run("it knows it for a day, with few questions", func(t *testing.T) {
		e, _ := established(t, master)
		b := listener(e, ours)
		for range 24 * 60 {
			e.Run(time.Minute)
			if got := hosts(b, e.Now); got != all {
				t.Fatalf("after %v hosts %s, want %s", e.Now.Sub(mdnslink.Start), got, all)
			}
		}
		// Addresses are true for 120 seconds and asked for anew at 80 % of that.
		if n := len(e.Log); n > 24*3600*2/96*12/10 {
			t.Errorf("%d packets in a day", n)
		}
	})
	t.Run("a lost answer costs nothing", func(t *testing.T) {
		e, _ := established(t, master)
		b := listener(e, ours)
		e.Run(10 * time.Second)
		e.Members[0].Cut = true
		e.Run(100 * time.Second) // the first question, at 80 %, is lost
		e.Members[0].Cut = false
		e.Run(time.Minute)
		if got := hosts(b, e.Now); got != all {
			t.Errorf("hosts %s, want %s", got, all)
		}
	})
	t.Run("one that vanishes is forgotten within its time", func(t *testing.T) {
		e, _ := established(t, master)
		b := listener(e, ours)
		e.Run(10 * time.Second)
		e.Members[0].Cut = true
		e.Clear()
		e.Run(wire.AddressTTL)
		if got := hosts(b, e.Now); got != "" {
			t.Errorf("hosts %s, want none", got)
		}
		var asked []time.Duration
		for _, s := range e.Log {
			if s.Msg.Question[0].Name == "master-0.local." {
				asked = append(asked, (s.After - e.Log[0].After).Round(time.Second))
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
	t.Run("one that sends a goodbye is forgotten after a second", func(t *testing.T) {
		e, r := established(t, master)
		b := listener(e, ours)
		e.Run(10 * time.Second)
		e.Deliver(e.Members[0], r.Leave())
		e.Run(900 * time.Millisecond)
		if got := hosts(b, e.Now); got != all {
			t.Errorf("hosts %s, want %s", got, all)
		}
		e.Run(101 * time.Millisecond)
		if got := hosts(b, e.Now); got != "" || b.total != 0 || len(b.sources) != 0 {
			t.Errorf("hosts %s, want none; %d records of %v", got, b.total, b.sources)
		}
	})
	t.Run("one that comes back with another address has that one", func(t *testing.T) {
		e, _ := established(t, node("master-0", "192.0.2.10"))
		b := listener(e, ours)
		e.Run(10 * time.Second)
		e.Remove(e.Members[0])
		e.Add(announcer(node("master-0", "192.0.2.30"), e.Now), "192.0.2.30")
		e.Run(2 * time.Second)
		if got := hosts(b, e.Now); got != "master-0[192.0.2.30]" {
			t.Errorf("hosts %s, want the new address", got)
		}
	})
}

// TestTwoHundred: so many hosts start at one instant, and every one is known.
func TestTwoHundred(t *testing.T) {
	e := mdnslink.New(t)
	b := listener(e, ours)
	for i := range 200 {
		e.Add(announcer(node(fmt.Sprintf("worker-%d", i), fmt.Sprintf("192.0.2.%d", i+1)), e.Now), fmt.Sprintf("192.0.2.%d", i+1)).Ignores = true // of each other
		e.Run(10 * time.Millisecond)
	}
	e.Run(5 * time.Second)
	for _, m := range e.Members {
		m.Ignores = false
	}
	if n := len(b.Hosts(e.Now)); n != 200 {
		t.Errorf("%d hosts, want 200", n)
	}
	e.Clear()
	late := listener(e, ours)
	e.Run(20 * time.Second)
	if n := len(late.Hosts(e.Now)); n != 200 {
		t.Errorf("a late one knows %d hosts, want 200", n)
	}
	another := false
	for _, s := range e.Log { // its second question knows what the first one brought
		another = another || !s.Msg.Response && s.Msg.Truncated
	}
	if !another {
		t.Error("what is known of 200 hosts fits into one packet")
	}
}

// TestMembers holds that etcd's list is that of the control plane nodes which are there, of five:
// without one that has vanished, without one that sent a goodbye, and with the one that takes its
// place, whatever its name.
func TestMembers(t *testing.T) {
	e := mdnslink.New(t)
	b := listener(e, ours)
	member := func(name, address string) *announce.Responder {
		h := node(name, address)
		h.Services = append(h.Services, wire.Service{Instance: "ostest Etcd-" + name, Type: wire.Etcd, Port: 2380, TTL: 3200 * time.Second})
		r := announcer(h, e.Now)
		e.Add(r, address)
		return r
	}
	var all []*announce.Responder
	for i := range 5 {
		all = append(all, member(fmt.Sprintf("master-%d", i), fmt.Sprintf("192.0.2.%d", 10+i)))
	}
	list := func() (names []string) {
		for _, e := range b.Endpoints(e.Now, wire.Etcd) {
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
		{"one loses its power", func() { e.Members[3].Cut = true }, wire.AddressTTL, []string{"master-0", "master-1", "master-3", "master-4"}},
		{"another takes its place", func() { member("rack7", "192.0.2.30") }, 2 * time.Second, []string{"master-0", "master-1", "master-3", "master-4", "rack7"}},
		{"one leaves in order", func() { e.Deliver(e.Members[1], all[0].Leave()) }, time.Second, []string{"master-1", "master-3", "master-4", "rack7"}},
		{"it comes back with another address", func() {
			e.Remove(e.Members[1])
			member("master-0", "192.0.2.40")
		}, 2 * time.Second, []string{"master-0", "master-1", "master-3", "master-4", "rack7"}},
	} {
		step.do()
		e.Run(step.wait)
		if got := list(); !slices.Equal(got, step.want) {
			t.Errorf("%s: etcd is %v, want %v", step.name, got, step.want)
		}
	}
	if got := hosts(b, e.Now); !strings.Contains(got, "master-0[192.0.2.40]") {
		t.Errorf("hosts %s", got)
	}
}

// TestHostile lists what must not be accepted (M-10).
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
		{"from a host that is not on the link", "198.51.100.66:5353", []string{srv, a}, false, ""},
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
			b := New(mdnslink.On("192.0.2.200"), ours, mdnslink.Even)
			m := wire.Response(nil, nil)
			for _, text := range tt.records {
				m.Answer = append(m.Answer, mdnslink.RR(t, text))
			}
			data, err := m.Pack()
			if err != nil {
				t.Fatal(err)
			}
			b.Receive(mdnslink.Start, wire.Packet{From: netip.MustParseAddrPort(tt.from), Multicast: !tt.unicast, Data: data})
			b.Tick(mdnslink.Start)
			if got := hosts(b, mdnslink.Start); got != tt.want {
				t.Errorf("accepts %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("a flood from one source", func(t *testing.T) {
		b := New(mdnslink.On("192.0.2.200"), ours, mdnslink.Even)
		for i := range 1000 {
			flood(t, b, "192.0.2.66:5353", i)
		}
		if b.total > mostOfOne {
			t.Errorf("%d records of one source", b.total)
		}
	})
	t.Run("a flood from many", func(t *testing.T) {
		b := New(mdnslink.On("2001:db8::1"), ours, mdnslink.Even)
		for i := range 2 * mostRecords / mostOfOne * mostOfOne {
			flood(t, b, fmt.Sprintf("[2001:db8::%x]:5353", i/mostOfOne+2), i)
		}
		if b.total > mostRecords {
			t.Errorf("%d records", b.total)
		}
	})
	t.Run("a host that is not accepted flushes nothing", func(t *testing.T) {
		e, _ := established(t, node("x", "192.0.2.10"))
		b := listener(e, ours)
		e.Run(10 * time.Second)
		e.Members[0].Cut = true
		bad := mdnslink.RR(t, "x.local. 120 IN A 203.0.113.66")
		bad.Header().Class |= wire.TopBit
		e.Inject("192.0.2.66:5353", wire.Response([]dns.RR{bad}, nil))
		e.Run(2 * time.Second)
		if got := hosts(b, e.Now); got != "x[192.0.2.10]" {
			t.Errorf("accepts %q", got)
		}
	})
}

// flood announces the i-th of many services.
func flood(t *testing.T, b *Browser, from string, i int) {
	t.Helper()
	m := wire.Response([]dns.RR{mdnslink.RR(t, fmt.Sprintf(`ostest\ %d._workstation._tcp.local. 3200 IN SRV 0 0 1 h%d.local.`, i, i))}, nil)
	data, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	b.Receive(mdnslink.Start, wire.Packet{From: netip.MustParseAddrPort(from), Multicast: true, Data: data})
}

// TestClusters puts two clusters on one link whose hosts have the same names, as installers choose
// them: each finds its own, and no other.
func TestClusters(t *testing.T) {
	e := mdnslink.New(t)
	listeners, announcers := map[string]*Browser{}, map[string][]*announce.Responder{}
	announced := map[*announce.Responder]wire.Host{}
	for i, cluster := range []string{"ostest", "lab"} {
		listeners[cluster] = New(mdnslink.On("192.0.2.200"), Wish{Types: ours.Types, Cluster: cluster, Networks: ours.Networks}, mdnslink.Even)
		e.Add(listeners[cluster], fmt.Sprintf("192.0.2.%d", 200+i))
		for n := range 3 {
			h := mdnslink.Of(cluster, node(fmt.Sprintf("master-%d", n), fmt.Sprintf("192.0.2.%d", 10*(i+1)+n)))
			r := announcer(h, e.Now)
			announced[r] = h
			e.Add(r, fmt.Sprintf("192.0.2.%d", 10*(i+1)+n))
			announcers[cluster] = append(announcers[cluster], r)
		}
		e.Run(2 * time.Second)
	}
	const first, second = "master-0[192.0.2.10] master-1[192.0.2.11] master-2[192.0.2.12]", "master-0[192.0.2.20] master-1[192.0.2.21] master-2[192.0.2.22]"
	for range 2 {
		if got := hosts(listeners["ostest"], e.Now); got != first {
			t.Errorf("the first cluster has %q", got)
		}
		if got := hosts(listeners["lab"], e.Now); got != second {
			t.Errorf("the second cluster has %q", got)
		}
		for _, r := range announcers["lab"] {
			if c := r.Claims()[0]; c.State != announce.Announcing && c.State != announce.Established || !c.Within || !c.Rival.IsValid() {
				t.Errorf("%+v", c)
			}
			r.Set(e.Now, mdnslink.LAN, []wire.Host{announced[r]}) // what is the same changes nothing
		}
		e.Run(10 * time.Minute)
	}
	e.Deliver(e.Members[1], announcers["ostest"][0].Leave())
	e.Run(2 * time.Second)
	if one, other := hosts(listeners["ostest"], e.Now), hosts(listeners["lab"], e.Now); strings.Contains(one, "master-0") || other != second {
		t.Errorf("after a goodbye in the first cluster it has %q, and the second %q", one, other)
	}
	e.Remove(e.Members[1])
	twice := announcer(mdnslink.Of("lab", node("master-1", "192.0.2.31")), e.Now)
	e.Add(twice, "192.0.2.31")
	e.Run(time.Minute)
	if c := twice.Claims()[0]; c.State == announce.Established || c.State == announce.Announcing || hosts(listeners["lab"], e.Now) != second {
		t.Errorf("a second host of the name in one cluster: %+v, and its cluster has %q", c, hosts(listeners["lab"], e.Now))
	}
}
