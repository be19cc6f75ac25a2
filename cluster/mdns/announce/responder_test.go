package announce

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/test/mdnslink"
)

// TestAnnounce holds the whole start of a host (RFC 6762 8.1 and 8.3), and that it then sends nothing.
func TestAnnounce(t *testing.T) {
	e := mdnslink.New(t)
	r := announcer(node("master-0", "192.0.2.10", "2001:db8::10"), e.Now)
	e.Add(r, "192.0.2.10")
	e.Run(time.Hour)
	probe := "query to all: ! master-0.local. A 192.0.2.10 120s; ! master-0.local. AAAA 2001:db8::10 120s; " +
		"! ostest_Workstation-master-0._workstation._tcp.local. SRV 0 0 42424 master-0.local. 3200s; ! ostest_Workstation-master-0._workstation._tcp.local. TXT \"\" 3200s; " +
		"? master-0.local. ANY; ? ostest_Workstation-master-0._workstation._tcp.local. ANY"
	announcement := "response to all: + master-0.local. NSEC master-0.local. A AAAA 120s top; = 0.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. PTR master-0.local. 120s top; " +
		"= 10.2.0.192.in-addr.arpa. PTR master-0.local. 120s top; = _services._dns-sd._udp.local. PTR _workstation._tcp.local. 4500s; " +
		"= _workstation._tcp.local. PTR ostest_Workstation-master-0._workstation._tcp.local. 3200s; = master-0.local. A 192.0.2.10 120s top; " +
		"= master-0.local. AAAA 2001:db8::10 120s top; = ostest_Workstation-master-0._workstation._tcp.local. SRV 0 0 42424 master-0.local. 3200s top; " +
		"= ostest_Workstation-master-0._workstation._tcp.local. TXT \"\" 3200s top"
	want := []string{"0s " + probe, "250ms " + probe, "500ms " + probe, "750ms " + announcement, "1.75s " + announcement}
	if got := e.Packets(); !slices.Equal(got, want) {
		t.Errorf("sent:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := r.Claims(); len(c) != 1 || c[0].State != Established {
		t.Errorf("claims %+v, want one that is established", c)
	}
}

// TestAnswers asks an established host, a minute after it has announced everything. The times are those
// since the question.
func TestAnswers(t *testing.T) {
	const peer, plainResolver = "192.0.2.77:5353", "192.0.2.77:40000"
	const a = "= master-0.local. A 192.0.2.10 120s top"
	const instance = `ostest\ Workstation-master-0._workstation._tcp.local.`
	knows := func(text string) func(*dns.Msg) {
		return func(m *dns.Msg) { m.Answer = append(m.Answer, mdnslink.RR(t, text)) }
	}
	const nsec = "master-0.local. NSEC master-0.local. A 120s top"
	for _, tt := range []struct {
		name, from string
		msg        *dns.Msg
		want       []string
	}{
		{"an address", peer, mdnslink.Ask("master-0.local.", dns.TypeA), []string{"0s response to all: + " + nsec + "; " + a}},
		{"in other letters", peer, mdnslink.Ask("MASTER-0.Local.", dns.TypeA), []string{"0s response to all: + " + nsec + "; " + a}},
		{"a type that it does not have", peer, mdnslink.Ask("master-0.local.", dns.TypeAAAA), []string{"0s response to all: = " + nsec}},
		{"anything", peer, mdnslink.Ask("master-0.local.", dns.TypeANY), []string{"0s response to all: + " + nsec + "; " + a}},
		{"another's name", peer, mdnslink.Ask("master-1.local.", dns.TypeA), nil},
		{"another class", peer, mdnslink.Ask("master-0.local.", dns.TypeA, func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }), nil},
		{"the way back", peer, mdnslink.Ask("10.2.0.192.in-addr.arpa.", dns.TypePTR), []string{"0s response to all: + master-0.local. A 192.0.2.10 120s top; = 10.2.0.192.in-addr.arpa. PTR master-0.local. 120s top"}},
		{"a type of service, which others have too, waits", peer, mdnslink.Ask("_workstation._tcp.local.", dns.TypePTR), []string{
			"20ms response to all: + master-0.local. A 192.0.2.10 120s top; + ostest_Workstation-master-0._workstation._tcp.local. SRV 0 0 42424 master-0.local. 3200s top; " +
				"+ ostest_Workstation-master-0._workstation._tcp.local. TXT \"\" 3200s top; = _workstation._tcp.local. PTR ostest_Workstation-master-0._workstation._tcp.local. 3200s"}},
		{"a service", peer, mdnslink.Ask(instance, dns.TypeSRV), []string{
			"0s response to all: + master-0.local. A 192.0.2.10 120s top; + " + nsec + "; = ostest_Workstation-master-0._workstation._tcp.local. SRV 0 0 42424 master-0.local. 3200s top"}},
		{"known already", peer, mdnslink.Ask("master-0.local.", dns.TypeA, knows("master-0.local. 60 IN A 192.0.2.10")), nil},
		{"known for too short a time yet", peer, mdnslink.Ask("master-0.local.", dns.TypeA, knows("master-0.local. 59 IN A 192.0.2.10")), []string{"0s response to all: + " + nsec + "; " + a}},
		{"wrongly known", peer, mdnslink.Ask("master-0.local.", dns.TypeA, knows("master-0.local. 120 IN A 192.0.2.11")), []string{"0s response to all: + " + nsec + "; " + a}},
		{"by unicast, when others have forgotten it", peer, mdnslink.Ask("master-0.local.", dns.TypeA, mdnslink.UnicastWelcome), []string{"0s response to all: + " + nsec + "; " + a}},
		{"by unicast, when others know it", peer, mdnslink.Ask(instance, dns.TypeTXT, mdnslink.UnicastWelcome), []string{
			"0s response to 192.0.2.77:5353: = ostest_Workstation-master-0._workstation._tcp.local. TXT \"\" 3200s top"}},
		{"a plain resolver", plainResolver, mdnslink.Ask("master-0.local.", dns.TypeA, func(m *dns.Msg) { m.Id = 7 }), []string{
			"0s response to 192.0.2.77:40000: + master-0.local. NSEC master-0.local. A 10s; = master-0.local. A 192.0.2.10 10s; ? master-0.local. A"}},
		{"a host that is not on the link", "198.51.100.1:5353", mdnslink.Ask("master-0.local.", dns.TypeA), nil},
		{"a plain resolver that is not on the link", "198.51.100.1:40000", mdnslink.Ask("master-0.local.", dns.TypeA), nil},
		{"a neighbour by its link-local address", "[fe80::1%eth0]:5353", mdnslink.Ask("master-0.local.", dns.TypeA), []string{"0s response to all: + " + nsec + "; " + a}},
		{"no standard query", peer, mdnslink.Ask("master-0.local.", dns.TypeA, func(m *dns.Msg) { m.Opcode = dns.OpcodeUpdate }), nil},
		{"a query with an error", peer, mdnslink.Ask("master-0.local.", dns.TypeA, func(m *dns.Msg) { m.Rcode = dns.RcodeRefused }), nil},
		{"a host that probes for the name", peer, mdnslink.Ask("master-0.local.", dns.TypeANY, mdnslink.UnicastWelcome, func(m *dns.Msg) { m.Ns = []dns.RR{mdnslink.RR(t, "master-0.local. 120 IN A 192.0.2.77")} }),
			[]string{"0s response to 192.0.2.77:5353: + " + nsec + "; " + a, "0s response to all: + " + nsec + "; " + a}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := established(t, node("master-0", "192.0.2.10"))
			asked := e.Now.Sub(mdnslink.Start)
			e.Inject(tt.from, tt.msg)
			e.Run(10 * time.Second)
			got := e.Packets()
			for i, s := range e.Log {
				_, rest, _ := strings.Cut(got[i], " ")
				got[i] = (s.After - asked).String() + " " + rest
				if tt.msg.Id != 0 && s.Msg.Id != tt.msg.Id {
					t.Errorf("the answer has ID %d, want %d", s.Msg.Id, tt.msg.Id)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("sent:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestSilentWhileProbing: a name is not announced before the probes are done.
func TestSilentWhileProbing(t *testing.T) {
	e := mdnslink.New(t)
	e.Add(announcer(node("master-0", "192.0.2.10"), e.Now), "192.0.2.10")
	e.Run(300 * time.Millisecond)
	e.Inject("192.0.2.77:5353", mdnslink.Ask("master-0.local.", dns.TypeA))
	e.Run(400 * time.Millisecond)
	for i, s := range e.Log { // it receives its own questions too
		if s.Msg.Response {
			t.Errorf("sent %s", e.Packets()[i])
		}
	}
}

// TestKnownInSeveralPackets: what a host knows may not fit into its question (RFC 6762 7.2).
func TestKnownInSeveralPackets(t *testing.T) {
	const name, known = "_workstation._tcp.local.", `_workstation._tcp.local. 3200 IN PTR ostest\ Workstation-master-0._workstation._tcp.local.`
	truncated := func(m *dns.Msg) { m.Truncated = true }
	for _, tt := range []struct {
		name  string
		rest  string // the sender of the rest, which holds our answer; empty: none is sent
		after time.Duration
		want  int
	}{
		{"the rest holds it", "192.0.2.77:5353", 300 * time.Millisecond, 0},
		{"nothing more comes", "", 0, 1},
		{"another host sends it", "192.0.2.78:5353", 300 * time.Millisecond, 1},
		{"it comes too late", "192.0.2.77:5353", 600 * time.Millisecond, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := established(t, node("master-0", "192.0.2.10"))
			e.Inject("192.0.2.77:5353", mdnslink.Ask(name, dns.TypePTR, truncated))
			e.Run(tt.after)
			if tt.rest != "" {
				e.Inject(tt.rest, &dns.Msg{Answer: []dns.RR{mdnslink.RR(t, known)}})
			}
			e.Run(5 * time.Second)
			if len(e.Log) != tt.want {
				t.Errorf("sent %q, want %d packets", e.Packets(), tt.want)
			}
		})
	}
}

// TestStorm holds the bound of packets, whatever is asked (M-03): each record once a second by
// multicast, and a bounded number of replies.
func TestStorm(t *testing.T) {
	for _, tt := range []struct {
		name, from string
		change     func(*dns.Msg)
		most       int // packets in five seconds
	}{
		{"a thousand questions a second", "192.0.2.77:5353", func(*dns.Msg) {}, 6},
		{"of a host that asks for unicast answers", "192.0.2.77:5353", mdnslink.UnicastWelcome, 5*wire.MaxToOne + 10},
		{"of a plain resolver", "192.0.2.77:40000", func(*dns.Msg) {}, 5*wire.MaxToOne + 10},
		{"of a host that probes for the name", "192.0.2.77:5353", func(m *dns.Msg) { m.Ns = []dns.RR{mdnslink.RR(t, "master-0.local. 120 IN A 192.0.2.77")} }, 4*5 + 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := established(t, node("master-0", "192.0.2.10"))
			for range 5000 {
				e.Inject(tt.from, mdnslink.Ask("master-0.local.", dns.TypeA, tt.change))
				e.Run(time.Millisecond)
			}
			if got := len(e.Log); got == 0 || got > tt.most {
				t.Errorf("sent %d packets, want some and %d at most", got, tt.most)
			}
		})
	}
	t.Run("from many forged addresses", func(t *testing.T) {
		e, _ := established(t, node("master-0", "192.0.2.10"))
		for i := range 5000 {
			e.Inject(fmt.Sprintf("192.0.2.%d:40000", i%200+20), mdnslink.Ask("master-0.local.", dns.TypeA))
			e.Run(time.Millisecond)
		}
		if got := len(e.Log); got == 0 || got > 6*wire.MaxToAll {
			t.Errorf("sent %d packets, want some and %d at most", got, 6*wire.MaxToAll)
		}
	})
	t.Run("questions that never end", func(t *testing.T) {
		e, r := established(t, node("master-0", "192.0.2.10"))
		for i := range 5000 {
			e.Inject(fmt.Sprintf("192.0.2.%d:5353", i%200+20), mdnslink.Ask("master-0.local.", dns.TypeA, func(m *dns.Msg) { m.Truncated = true }))
			if len(r.deferred) > mostDeferred {
				t.Fatalf("%d questions are kept", len(r.deferred))
			}
		}
	})
}

// TestCrowd: of hundreds that have a service of one type, one announces the type.
func TestCrowd(t *testing.T) {
	e := mdnslink.New(t)
	for i := range 50 {
		h := node(fmt.Sprintf("worker-%d", i), fmt.Sprintf("192.0.2.%d", i+10))
		r := announcer(h, e.Now)
		n := i
		r.jitter = func(low, high time.Duration) time.Duration { return low + (high-low)*time.Duration(n)/50 }
		e.Add(r, h.Addresses[0].String())
	}
	e.Run(time.Minute)
	e.Clear()
	e.Inject("192.0.2.9:5353", mdnslink.Ask("_services._dns-sd._udp.local.", dns.TypePTR))
	e.Run(5 * time.Second)
	if len(e.Log) != 1 {
		t.Errorf("%d hosts announced the workstation type, want one", len(e.Log))
	}
}

// TestGoodbye: a host that leaves sends a goodbye, and flushes no records.
func TestGoodbye(t *testing.T) {
	e, r := established(t, node("master-0", "192.0.2.10"))
	e.Deliver(e.Members[0], r.Leave())
	if len(e.Log) != 1 {
		t.Fatalf("sent %q, want one packet", e.Packets())
	}
	want := []string{"10.2.0.192.in-addr.arpa.", "_workstation._tcp.local.", "master-0.local.", `ostest\ Workstation-master-0._workstation._tcp.local.`}
	var got []string
	for _, rr := range e.Log[0].Msg.Answer {
		if rr.Header().Ttl != 0 || rr.Header().Class != dns.ClassINET {
			t.Errorf("sent %s, want TTL 0 and nothing flushed", mdnslink.Line(rr))
		}
		got = append(got, rr.Header().Name)
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("sent a goodbye for %q, want %q", got, want)
	}
	if at, ok := r.Next(); ok {
		t.Errorf("it wants to be woken at %v", at)
	}
	if out := announcer(node("master-0", "192.0.2.10"), mdnslink.Start).Leave(); len(out) != 1 {
		t.Errorf("a host that others may remember from before sent %d packets, want its goodbye", len(out))
	}
	lost := announcer(node("master-0", "192.0.2.10"), mdnslink.Start)
	lost.claims[0].lose(mdnslink.Start, netip.MustParseAddr("192.0.2.77"))
	if out := lost.Leave(); len(out) > 0 {
		t.Errorf("a host whose name is another's sent a goodbye: %v", out)
	}
}

// TestChanges sets other hosts on an established one.
func TestChanges(t *testing.T) {
	for _, tt := range []struct {
		name string
		want wire.Host
		sent []string // what must be in the packets, in this order
	}{
		{"nothing", node("master-0", "192.0.2.10"), nil},
		{"another address", node("master-0", "192.0.2.20"), []string{"A 192.0.2.10 0s", "A 192.0.2.20 120s top", "A 192.0.2.20 120s top"}},
		{"one more", node("master-0", "192.0.2.10", "2001:db8::10"), []string{"AAAA 2001:db8::10 120s top", "AAAA 2001:db8::10 120s top"}},
		{"another name", node("master-7", "192.0.2.10"), []string{"master-0.local. A 192.0.2.10 0s", "? master-7.local. ANY", "master-7.local. A 192.0.2.10 120s top"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, r := established(t, node("master-0", "192.0.2.10"))
			r.Set(e.Now, mdnslink.On("192.0.2.10"), []wire.Host{tt.want})
			e.Run(time.Minute)
			all, rest := strings.Join(e.Packets(), "\n"), ""
			rest = all
			for _, part := range tt.sent {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Fatalf("sent:\n%s\nwant %q in it", all, tt.sent)
				}
				rest = after
			}
			if len(tt.sent) == 0 && all != "" {
				t.Errorf("sent %s", all)
			}
		})
	}
}

// state is what has become of a responder's only host.
func state(r *Responder) State { return r.Claims()[0].State }

// TestConflicts puts two hosts of one name on a link.
func TestConflicts(t *testing.T) {
	first, second := node("master-0", "192.0.2.10"), node("master-0", "192.0.2.20")
	t.Run("the host that has the name keeps it", func(t *testing.T) {
		e, a := established(t, first)
		b := announcer(second, e.Now)
		e.Add(b, "192.0.2.20")
		e.Run(time.Minute)
		if state(a) != Established || state(b) != Lost || b.Claims()[0].Rival != netip.MustParseAddr("192.0.2.10") {
			t.Errorf("%+v and %+v", a.Claims(), b.Claims())
		}
		for _, s := range e.Packets() {
			if strings.Contains(s, "= master-0.local. A 192.0.2.20") {
				t.Errorf("the second one announced itself: %s", s)
			}
		}
		e.Deliver(e.Members[0], a.Leave())
		e.Remove(e.Members[0])
		e.Run(afterLoss + 2*time.Second)
		if state(b) != Established {
			t.Errorf("after the first one left the second is %s", state(b))
		}
	})
	t.Run("of two that probe at once the later in order has it", func(t *testing.T) {
		e := mdnslink.New(t)
		a, b := announcer(first, e.Now), announcer(second, e.Now)
		e.Add(a, "192.0.2.10")
		e.Add(b, "192.0.2.20")
		e.Run(time.Minute)
		if state(a) != Lost || state(b) != Established {
			t.Errorf("%+v and %+v", a.Claims(), b.Claims())
		}
	})
	t.Run("two that did not receive each other", func(t *testing.T) {
		e := mdnslink.New(t)
		a, b := announcer(first, e.Now), announcer(second, e.Now)
		e.Add(a, "192.0.2.10")
		cut := e.Add(b, "192.0.2.20")
		cut.Cut = true
		e.Run(time.Minute)
		cut.Cut = false
		e.Inject("192.0.2.77:5353", mdnslink.Ask("master-0.local.", dns.TypeA))
		e.Run(time.Minute)
		if (state(a) == Established) == (state(b) == Established) {
			t.Errorf("%+v and %+v, want one of them", a.Claims(), b.Claims())
		}
	})
	t.Run("this machine's own announcement is no conflict", func(t *testing.T) {
		e, a := established(t, first)
		e.Inject("192.0.2.10:5353", wire.Response([]dns.RR{mdnslink.RR(t, "master-0.local. 120 IN A 192.0.2.99")}, nil))
		e.Run(100 * time.Millisecond)
		if state(a) != Established {
			t.Errorf("it is %s", state(a))
		}
	})
	t.Run("one announcement of a host that does not have it", func(t *testing.T) {
		e, a := established(t, first)
		e.Inject("192.0.2.66:5353", wire.Response([]dns.RR{mdnslink.RR(t, "master-0.local. 120 IN A 192.0.2.66")}, nil))
		if state(a) != Probing {
			t.Errorf("it is %s, want that it probes", state(a))
		}
		e.Run(2 * time.Second)
		if state(a) != Established {
			t.Errorf("it is %s", state(a))
		}
	})
	t.Run("a host that always contradicts", func(t *testing.T) {
		e, _ := established(t, first)
		for range 600 {
			e.Inject("192.0.2.66:5353", wire.Response([]dns.RR{mdnslink.RR(t, "master-0.local. 120 IN A 192.0.2.66")}, nil))
			e.Run(100 * time.Millisecond)
		}
		if most := 60; len(e.Log) > most {
			t.Errorf("sent %d packets in a minute, want %d at most", len(e.Log), most)
		}
	})
	t.Run("a host that always contradicts either name", func(t *testing.T) {
		e, a := established(t, mdnslink.Of("ostest", first))
		for range 600 {
			for _, name := range []string{"master-0.local.", "master-0.ostest.local."} {
				e.Inject("192.0.2.66:5353", wire.Response([]dns.RR{mdnslink.RR(t, name+" 120 IN A 192.0.2.66")}, nil))
			}
			e.Run(100 * time.Millisecond)
		}
		if most := 80; len(e.Log) > most {
			t.Errorf("sent %d packets in a minute, want %d at most", len(e.Log), most)
		}
		e.Run(10 * time.Second)
		if state(a) != Established {
			t.Errorf("after the last contradiction it is %s", state(a))
		}
	})
	t.Run("another host sends a goodbye for it", func(t *testing.T) {
		e, a := established(t, first)
		e.Inject("192.0.2.66:5353", wire.Response([]dns.RR{mdnslink.RR(t, "master-0.local. 0 IN A 192.0.2.10")}, nil))
		e.Run(time.Second)
		if len(e.Log) != 1 || state(a) != Established {
			t.Errorf("sent %q and is %s, want its address once more", e.Packets(), state(a))
		}
	})
}

// TestGoodbyeAgain holds that a host which changes its name while one family works sends the goodbye
// for the former name in the other family too, once that works. It does so for as long as a host may
// remember the name, and not for a name that it has again.
func TestGoodbyeAgain(t *testing.T) {
	goodbyes := func(e *mdnslink.Link) (names []string) {
		for _, s := range e.Log {
			for _, rr := range s.Msg.Answer {
				if rr.Header().Ttl == 0 && rr.Header().Rrtype == dns.TypeA {
					names = append(names, rr.Header().Name)
				}
			}
		}
		return names
	}
	for _, tt := range []struct {
		name  string
		after time.Duration
		back  bool
		want  []string
	}{
		{"at once", time.Second, false, []string{"master-0.local."}},
		{"when no host can remember it", wire.AddressTTL, false, nil},
		{"when it has its name again", 5 * time.Second, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := node("master-0", "192.0.2.10")
			e, r := established(t, first)
			r.Set(e.Now, mdnslink.LAN, []wire.Host{node("master-7", "192.0.2.10")})
			e.Run(0)
			if tt.back {
				r.Set(e.Now, mdnslink.LAN, []wire.Host{first})
			}
			e.Run(tt.after)
			e.Clear()
			r.Again(e.Now)
			e.Deliver(e.Members[0], r.Tick(e.Now))
			e.Run(3 * time.Second)
			got := slices.DeleteFunc(goodbyes(e), func(name string) bool { return tt.back && name == "master-7.local." })
			if !slices.Equal(got, tt.want) {
				t.Errorf("sent a goodbye for %v, want %v", got, tt.want)
			}
		})
	}
	e, r := established(t, node("master-0", "192.0.2.10"))
	for i := range 500 {
		r.Set(e.Now, mdnslink.LAN, []wire.Host{node(fmt.Sprintf("master-%d", i), "192.0.2.10")})
	}
	if len(r.gone) > mostGone {
		t.Errorf("it remembers %d records that are no more", len(r.gone))
	}
}
