package mdns

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/record"
)

// TestShorten holds the form of names that were published before (M-01).
func TestShorten(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"short", "master-0", "master-0"},
		{"just fits", strings.Repeat("a", 63), strings.Repeat("a", 63)},
		{"long", "prefix-someverylongservicenamethatwouldcauseaproblemfordns-suffix", "prefix-somevery47540ff49304816bc5054bb4f3cc9a9clemfordns-suffix"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Shorten(tt.text); got != tt.want {
				t.Errorf("Shorten(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

// TestAnnounce holds the whole start of a host (RFC 6762 8.1 and 8.3), and that it then is silent.
func TestAnnounce(t *testing.T) {
	e := newEther(t)
	r := announcer(node("master-0", "192.0.2.10", "2001:db8::10"), e.now)
	e.add(r, "192.0.2.10")
	e.run(time.Hour)
	probe := "query to all: ! master-0.local. A 192.0.2.10 120s; ! master-0.local. AAAA 2001:db8::10 120s; " +
		"! ostest_Workstation-master-0._workstation._tcp.local. SRV 0 0 42424 master-0.local. 3200s; ! ostest_Workstation-master-0._workstation._tcp.local. TXT \"\" 3200s; " +
		"? master-0.local. ANY; ? ostest_Workstation-master-0._workstation._tcp.local. ANY"
	announcement := "response to all: + master-0.local. NSEC master-0.local. A AAAA 120s top; = 0.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. PTR master-0.local. 120s top; " +
		"= 10.2.0.192.in-addr.arpa. PTR master-0.local. 120s top; = _services._dns-sd._udp.local. PTR _workstation._tcp.local. 4500s; " +
		"= _workstation._tcp.local. PTR ostest_Workstation-master-0._workstation._tcp.local. 3200s; = master-0.local. A 192.0.2.10 120s top; " +
		"= master-0.local. AAAA 2001:db8::10 120s top; = ostest_Workstation-master-0._workstation._tcp.local. SRV 0 0 42424 master-0.local. 3200s top; " +
		"= ostest_Workstation-master-0._workstation._tcp.local. TXT \"\" 3200s top"
	want := []string{"0s " + probe, "250ms " + probe, "500ms " + probe, "750ms " + announcement, "1.75s " + announcement}
	if got := e.said(); !slices.Equal(got, want) {
		t.Errorf("said:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := r.Claims(); len(c) != 1 || c[0].State != Established {
		t.Errorf("claims %+v, want one that is established", c)
	}
}

func qu(m *dns.Msg) { m.Question[0].Qclass |= topBit }

// TestAnswers asks an established host, a minute after it has said everything. The times are those
// since the question.
func TestAnswers(t *testing.T) {
	const peer, plainResolver = "192.0.2.77:5353", "192.0.2.77:40000"
	const a = "= master-0.local. A 192.0.2.10 120s top"
	const instance = `ostest\ Workstation-master-0._workstation._tcp.local.`
	knows := func(text string) func(*dns.Msg) {
		return func(m *dns.Msg) { m.Answer = append(m.Answer, rr(t, text)) }
	}
	const nsec = "master-0.local. NSEC master-0.local. A 120s top"
	for _, tt := range []struct {
		name, from string
		msg        *dns.Msg
		want       []string
	}{
		{"an address", peer, ask("master-0.local.", dns.TypeA), []string{"0s response to all: + " + nsec + "; " + a}},
		{"in other letters", peer, ask("MASTER-0.Local.", dns.TypeA), []string{"0s response to all: + " + nsec + "; " + a}},
		{"what there is not", peer, ask("master-0.local.", dns.TypeAAAA), []string{"0s response to all: = " + nsec}},
		{"anything", peer, ask("master-0.local.", dns.TypeANY), []string{"0s response to all: + " + nsec + "; " + a}},
		{"another's name", peer, ask("master-1.local.", dns.TypeA), nil},
		{"another class", peer, ask("master-0.local.", dns.TypeA, func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }), nil},
		{"the way back", peer, ask("10.2.0.192.in-addr.arpa.", dns.TypePTR), []string{"0s response to all: + master-0.local. A 192.0.2.10 120s top; = 10.2.0.192.in-addr.arpa. PTR master-0.local. 120s top"}},
		{"a type of service, which others have too, waits", peer, ask("_workstation._tcp.local.", dns.TypePTR), []string{
			"20ms response to all: + master-0.local. A 192.0.2.10 120s top; + ostest_Workstation-master-0._workstation._tcp.local. SRV 0 0 42424 master-0.local. 3200s top; " +
				"+ ostest_Workstation-master-0._workstation._tcp.local. TXT \"\" 3200s top; = _workstation._tcp.local. PTR ostest_Workstation-master-0._workstation._tcp.local. 3200s"}},
		{"a service", peer, ask(instance, dns.TypeSRV), []string{
			"0s response to all: + master-0.local. A 192.0.2.10 120s top; + " + nsec + "; = ostest_Workstation-master-0._workstation._tcp.local. SRV 0 0 42424 master-0.local. 3200s top"}},
		{"known already", peer, ask("master-0.local.", dns.TypeA, knows("master-0.local. 60 IN A 192.0.2.10")), nil},
		{"known for too short a time yet", peer, ask("master-0.local.", dns.TypeA, knows("master-0.local. 59 IN A 192.0.2.10")), []string{"0s response to all: + " + nsec + "; " + a}},
		{"wrongly known", peer, ask("master-0.local.", dns.TypeA, knows("master-0.local. 120 IN A 192.0.2.11")), []string{"0s response to all: + " + nsec + "; " + a}},
		{"by unicast, when others have forgotten it", peer, ask("master-0.local.", dns.TypeA, qu), []string{"0s response to all: + " + nsec + "; " + a}},
		{"by unicast, when others know it", peer, ask(instance, dns.TypeTXT, qu), []string{
			"0s response to 192.0.2.77:5353: = ostest_Workstation-master-0._workstation._tcp.local. TXT \"\" 3200s top"}},
		{"a plain resolver", plainResolver, ask("master-0.local.", dns.TypeA, func(m *dns.Msg) { m.Id = 7 }), []string{
			"0s response to 192.0.2.77:40000: + master-0.local. NSEC master-0.local. A 10s; = master-0.local. A 192.0.2.10 10s; ? master-0.local. A"}},
		{"somebody from afar", "198.51.100.1:5353", ask("master-0.local.", dns.TypeA), nil},
		{"a plain resolver from afar", "198.51.100.1:40000", ask("master-0.local.", dns.TypeA), nil},
		{"a neighbour by its link-local address", "[fe80::1%eth0]:5353", ask("master-0.local.", dns.TypeA), []string{"0s response to all: + " + nsec + "; " + a}},
		{"no standard query", peer, ask("master-0.local.", dns.TypeA, func(m *dns.Msg) { m.Opcode = dns.OpcodeUpdate }), nil},
		{"a query with an error", peer, ask("master-0.local.", dns.TypeA, func(m *dns.Msg) { m.Rcode = dns.RcodeRefused }), nil},
		{"somebody who wants the name", peer, ask("master-0.local.", dns.TypeANY, qu, func(m *dns.Msg) { m.Ns = []dns.RR{rr(t, "master-0.local. 120 IN A 192.0.2.77")} }),
			[]string{"0s response to 192.0.2.77:5353: + " + nsec + "; " + a, "0s response to all: + " + nsec + "; " + a}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := established(t, node("master-0", "192.0.2.10"))
			asked := e.now.Sub(start)
			e.inject(tt.from, tt.msg)
			e.run(10 * time.Second)
			got := e.said()
			for i, s := range e.log {
				_, rest, _ := strings.Cut(got[i], " ")
				got[i] = (s.after - asked).String() + " " + rest
				if tt.msg.Id != 0 && s.msg.Id != tt.msg.Id {
					t.Errorf("the answer has ID %d, want %d", s.msg.Id, tt.msg.Id)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("said:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestSilentWhileProbing: what is not known to be one's own is not told to others.
func TestSilentWhileProbing(t *testing.T) {
	e := newEther(t)
	e.add(announcer(node("master-0", "192.0.2.10"), e.now), "192.0.2.10")
	e.run(300 * time.Millisecond)
	e.inject("192.0.2.77:5353", ask("master-0.local.", dns.TypeA))
	e.run(400 * time.Millisecond)
	for i, s := range e.log { // its own questions it hears as well
		if s.msg.Response {
			t.Errorf("said %s", e.said()[i])
		}
	}
}

// TestKnownInSeveralPackets: what a host knows may not fit into its question (RFC 6762 7.2).
func TestKnownInSeveralPackets(t *testing.T) {
	const name, known = "_workstation._tcp.local.", `_workstation._tcp.local. 3200 IN PTR ostest\ Workstation-master-0._workstation._tcp.local.`
	truncated := func(m *dns.Msg) { m.Truncated = true }
	for _, tt := range []struct {
		name  string
		rest  string // who sends the rest, which holds our answer; empty for nobody
		after time.Duration
		want  int
	}{
		{"the rest holds it", "192.0.2.77:5353", 300 * time.Millisecond, 0},
		{"nothing more comes", "", 0, 1},
		{"somebody else sends it", "192.0.2.78:5353", 300 * time.Millisecond, 1},
		{"it comes too late", "192.0.2.77:5353", 600 * time.Millisecond, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := established(t, node("master-0", "192.0.2.10"))
			e.inject("192.0.2.77:5353", ask(name, dns.TypePTR, truncated))
			e.run(tt.after)
			if tt.rest != "" {
				e.inject(tt.rest, &dns.Msg{Answer: []dns.RR{rr(t, known)}})
			}
			e.run(5 * time.Second)
			if len(e.log) != tt.want {
				t.Errorf("said %q, want %d packets", e.said(), tt.want)
			}
		})
	}
}

// TestStorm holds how much is said at most, whatever is asked (M-03): each record once a second by
// multicast, and a bounded number of replies.
func TestStorm(t *testing.T) {
	for _, tt := range []struct {
		name, from string
		change     func(*dns.Msg)
		most       int // packets in five seconds
	}{
		{"a thousand questions a second", "192.0.2.77:5353", func(*dns.Msg) {}, 6},
		{"of one who wants the answer alone", "192.0.2.77:5353", qu, 5*mostToOne + 10},
		{"of a plain resolver", "192.0.2.77:40000", func(*dns.Msg) {}, 5*mostToOne + 10},
		{"of one who wants the name", "192.0.2.77:5353", func(m *dns.Msg) { m.Ns = []dns.RR{rr(t, "master-0.local. 120 IN A 192.0.2.77")} }, 4*5 + 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := established(t, node("master-0", "192.0.2.10"))
			for range 5000 {
				e.inject(tt.from, ask("master-0.local.", dns.TypeA, tt.change))
				e.run(time.Millisecond)
			}
			if got := len(e.log); got == 0 || got > tt.most {
				t.Errorf("said %d packets, want some and %d at most", got, tt.most)
			}
		})
	}
	t.Run("from many forged addresses", func(t *testing.T) {
		e, _ := established(t, node("master-0", "192.0.2.10"))
		for i := range 5000 {
			e.inject(fmt.Sprintf("192.0.2.%d:40000", i%200+20), ask("master-0.local.", dns.TypeA))
			e.run(time.Millisecond)
		}
		if got := len(e.log); got == 0 || got > 6*mostToAll {
			t.Errorf("said %d packets, want some and %d at most", got, 6*mostToAll)
		}
	})
	t.Run("questions that never end", func(t *testing.T) {
		e, r := established(t, node("master-0", "192.0.2.10"))
		for i := range 5000 {
			e.inject(fmt.Sprintf("192.0.2.%d:5353", i%200+20), ask("master-0.local.", dns.TypeA, func(m *dns.Msg) { m.Truncated = true }))
			if len(r.deferred) > mostDeferred {
				t.Fatalf("%d questions are kept", len(r.deferred))
			}
		}
	})
}

// TestCrowd: of hundreds that have a service of one type, not each says so.
func TestCrowd(t *testing.T) {
	e := newEther(t)
	for i := range 50 {
		h := node(fmt.Sprintf("worker-%d", i), fmt.Sprintf("192.0.2.%d", i+10))
		r := announcer(h, e.now)
		n := i
		r.jitter = func(low, high time.Duration) time.Duration { return low + (high-low)*time.Duration(n)/50 }
		e.add(r, h.Addresses[0].String())
	}
	e.run(time.Minute)
	e.clear()
	e.inject("192.0.2.9:5353", ask("_services._dns-sd._udp.local.", dns.TypePTR))
	e.run(5 * time.Second)
	if len(e.log) != 1 {
		t.Errorf("%d hosts said that there are workstations, want one", len(e.log))
	}
}

// TestGoodbye: who leaves says so, and flushes nobody's records.
func TestGoodbye(t *testing.T) {
	e, r := established(t, node("master-0", "192.0.2.10"))
	e.carry(e.members[0], r.Leave())
	if len(e.log) != 1 {
		t.Fatalf("said %q, want one packet", e.said())
	}
	want := []string{"10.2.0.192.in-addr.arpa.", "_workstation._tcp.local.", "master-0.local.", `ostest\ Workstation-master-0._workstation._tcp.local.`}
	var got []string
	for _, rr := range e.log[0].msg.Answer {
		if rr.Header().Ttl != 0 || rr.Header().Class != dns.ClassINET {
			t.Errorf("said %s, want TTL 0 and nothing flushed", line(rr))
		}
		got = append(got, rr.Header().Name)
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("said goodbye to %q, want %q", got, want)
	}
	if at, ok := r.Next(); ok {
		t.Errorf("it wants to be woken at %v", at)
	}
	if out := announcer(node("master-0", "192.0.2.10"), start).Leave(); len(out) != 1 {
		t.Errorf("a host that others may remember from before said %d packets, want its goodbye", len(out))
	}
	lost := announcer(node("master-0", "192.0.2.10"), start)
	lost.claims[0].lose(start, netip.MustParseAddr("192.0.2.77"))
	if out := lost.Leave(); len(out) > 0 {
		t.Errorf("a host whose name is another's said goodbye: %v", out)
	}
}

// TestChanges sets other hosts on an established one.
func TestChanges(t *testing.T) {
	for _, tt := range []struct {
		name string
		want Host
		said []string // what must be in the packets, in this order
	}{
		{"nothing", node("master-0", "192.0.2.10"), nil},
		{"another address", node("master-0", "192.0.2.20"), []string{"A 192.0.2.10 0s", "A 192.0.2.20 120s top", "A 192.0.2.20 120s top"}},
		{"one more", node("master-0", "192.0.2.10", "2001:db8::10"), []string{"AAAA 2001:db8::10 120s top", "AAAA 2001:db8::10 120s top"}},
		{"another name", node("master-7", "192.0.2.10"), []string{"master-0.local. A 192.0.2.10 0s", "? master-7.local. ANY", "master-7.local. A 192.0.2.10 120s top"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, r := established(t, node("master-0", "192.0.2.10"))
			r.Set(e.now, linkOf("192.0.2.10"), []Host{tt.want})
			e.run(time.Minute)
			all, rest := strings.Join(e.said(), "\n"), ""
			rest = all
			for _, part := range tt.said {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Fatalf("said:\n%s\nwant %q in it", all, tt.said)
				}
				rest = after
			}
			if len(tt.said) == 0 && all != "" {
				t.Errorf("said %s", all)
			}
		})
	}
}

// state is what has become of a responder's only host.
func state(r *Responder) State { return r.Claims()[0].State }

// TestConflicts puts two hosts of one name on a link.
func TestConflicts(t *testing.T) {
	first, second := node("master-0", "192.0.2.10"), node("master-0", "192.0.2.20")
	t.Run("who has the name keeps it", func(t *testing.T) {
		e, a := established(t, first)
		b := announcer(second, e.now)
		e.add(b, "192.0.2.20")
		e.run(time.Minute)
		if state(a) != Established || state(b) != Lost || b.Claims()[0].Rival != netip.MustParseAddr("192.0.2.10") {
			t.Errorf("%+v and %+v", a.Claims(), b.Claims())
		}
		for _, s := range e.said() {
			if strings.Contains(s, "= master-0.local. A 192.0.2.20") {
				t.Errorf("the second one announced itself: %s", s)
			}
		}
		e.carry(e.members[0], a.Leave())
		e.remove(e.members[0])
		e.run(afterLoss + 2*time.Second)
		if state(b) != Established {
			t.Errorf("after the first one left the second is %s", state(b))
		}
	})
	t.Run("of two who ask at once the later in order has it", func(t *testing.T) {
		e := newEther(t)
		a, b := announcer(first, e.now), announcer(second, e.now)
		e.add(a, "192.0.2.10")
		e.add(b, "192.0.2.20")
		e.run(time.Minute)
		if state(a) != Lost || state(b) != Established {
			t.Errorf("%+v and %+v", a.Claims(), b.Claims())
		}
	})
	t.Run("two that did not hear each other", func(t *testing.T) {
		e := newEther(t)
		a, b := announcer(first, e.now), announcer(second, e.now)
		e.add(a, "192.0.2.10")
		cut := e.add(b, "192.0.2.20")
		cut.off = true
		e.run(time.Minute)
		cut.off = false
		e.inject("192.0.2.77:5353", ask("master-0.local.", dns.TypeA))
		e.run(time.Minute)
		if (state(a) == Established) == (state(b) == Established) {
			t.Errorf("%+v and %+v, want one of them", a.Claims(), b.Claims())
		}
	})
	t.Run("what this machine itself says is no conflict", func(t *testing.T) {
		e, a := established(t, first)
		e.inject("192.0.2.10:5353", response([]dns.RR{rr(t, "master-0.local. 120 IN A 192.0.2.99")}, nil))
		e.run(100 * time.Millisecond)
		if state(a) != Established {
			t.Errorf("it is %s", state(a))
		}
	})
	t.Run("one word from somebody who does not have it", func(t *testing.T) {
		e, a := established(t, first)
		e.inject("192.0.2.66:5353", response([]dns.RR{rr(t, "master-0.local. 120 IN A 192.0.2.66")}, nil))
		if state(a) != Probing {
			t.Errorf("it is %s, want that it asks", state(a))
		}
		e.run(2 * time.Second)
		if state(a) != Established {
			t.Errorf("it is %s", state(a))
		}
	})
	t.Run("somebody who always contradicts", func(t *testing.T) {
		e, _ := established(t, first)
		for range 600 {
			e.inject("192.0.2.66:5353", response([]dns.RR{rr(t, "master-0.local. 120 IN A 192.0.2.66")}, nil))
			e.run(100 * time.Millisecond)
		}
		if most := 60; len(e.log) > most {
			t.Errorf("said %d packets in a minute, want %d at most", len(e.log), most)
		}
	})
	t.Run("somebody who always contradicts either name", func(t *testing.T) {
		e, a := established(t, of("ostest", first))
		for range 600 {
			for _, name := range []string{"master-0.local.", "master-0.ostest.local."} {
				e.inject("192.0.2.66:5353", response([]dns.RR{rr(t, name+" 120 IN A 192.0.2.66")}, nil))
			}
			e.run(100 * time.Millisecond)
		}
		if most := 80; len(e.log) > most {
			t.Errorf("said %d packets in a minute, want %d at most", len(e.log), most)
		}
		e.run(10 * time.Second)
		if state(a) != Established {
			t.Errorf("when he is silent it is %s", state(a))
		}
	})
	t.Run("somebody says goodbye for it", func(t *testing.T) {
		e, a := established(t, first)
		e.inject("192.0.2.66:5353", response([]dns.RR{rr(t, "master-0.local. 0 IN A 192.0.2.10")}, nil))
		e.run(time.Second)
		if len(e.log) != 1 || state(a) != Established {
			t.Errorf("said %q and is %s, want its address once more", e.said(), state(a))
		}
	})
}

// TestGoodbyeAgain holds that who changes its name while it speaks in one family only says goodbye
// to the former one in the other family too, once it speaks there, for as long as somebody may
// remember it, and not to what it has again.
func TestGoodbyeAgain(t *testing.T) {
	goodbyes := func(e *ether) (names []string) {
		for _, s := range e.log {
			for _, rr := range s.msg.Answer {
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
		{"when nobody can remember it", addressTTL, false, nil},
		{"when it has its name again", 5 * time.Second, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := node("master-0", "192.0.2.10")
			e, r := established(t, first)
			r.Set(e.now, lan, []Host{node("master-7", "192.0.2.10")})
			e.run(0)
			if tt.back {
				r.Set(e.now, lan, []Host{first})
			}
			e.run(tt.after)
			e.clear()
			r.Again(e.now)
			e.carry(e.members[0], r.Tick(e.now))
			e.run(3 * time.Second)
			got := slices.DeleteFunc(goodbyes(e), func(name string) bool { return tt.back && name == "master-7.local." })
			if !slices.Equal(got, tt.want) {
				t.Errorf("said goodbye to %v, want %v", got, tt.want)
			}
		})
	}
	e, r := established(t, node("master-0", "192.0.2.10"))
	for i := range 500 {
		r.Set(e.now, lan, []Host{node(fmt.Sprintf("master-%d", i), "192.0.2.10")})
	}
	if len(r.gone) > mostGone {
		t.Errorf("it remembers %d records that are no more", len(r.gone))
	}
}

// of makes a node one of a cluster.
func of(cluster string, h Host) Host {
	h.Cluster, h.Services = record.Name(cluster), slices.Clone(h.Services)
	for i := range h.Services {
		h.Services[i].Instance = strings.Replace(h.Services[i].Instance, "ostest", cluster, 1)
	}
	return h
}

// TestClusters puts two clusters on one link whose hosts have the same names, as installers choose
// them: each finds its own, and nobody else's.
func TestClusters(t *testing.T) {
	e := newEther(t)
	listeners, announcers := map[string]*Browser{}, map[string][]*Responder{}
	for i, cluster := range []string{"ostest", "lab"} {
		listeners[cluster] = NewBrowser(linkOf("192.0.2.200"), Wish{Types: ours.Types, Cluster: cluster, Networks: ours.Networks}, even)
		e.add(listeners[cluster], fmt.Sprintf("192.0.2.%d", 200+i))
		for n := range 3 {
			r := announcer(of(cluster, node(fmt.Sprintf("master-%d", n), fmt.Sprintf("192.0.2.%d", 10*(i+1)+n))), e.now)
			e.add(r, fmt.Sprintf("192.0.2.%d", 10*(i+1)+n))
			announcers[cluster] = append(announcers[cluster], r)
		}
		e.run(2 * time.Second)
	}
	const first, second = "master-0[192.0.2.10] master-1[192.0.2.11] master-2[192.0.2.12]", "master-0[192.0.2.20] master-1[192.0.2.21] master-2[192.0.2.22]"
	for range 2 {
		if got := hosts(listeners["ostest"], e.now); got != first {
			t.Errorf("the first cluster has %q", got)
		}
		if got := hosts(listeners["lab"], e.now); got != second {
			t.Errorf("the second cluster has %q", got)
		}
		for _, r := range announcers["lab"] {
			if c := r.Claims()[0]; !r.claims[0].answers() || !c.Within || !c.Rival.IsValid() {
				t.Errorf("%+v", c)
			}
			r.Set(e.now, lan, []Host{r.claims[0].host}) // what is the same changes nothing
		}
		e.run(10 * time.Minute)
	}
	e.carry(e.members[1], announcers["ostest"][0].Leave())
	e.run(2 * time.Second)
	if one, other := hosts(listeners["ostest"], e.now), hosts(listeners["lab"], e.now); strings.Contains(one, "master-0") || other != second {
		t.Errorf("after a goodbye in the first cluster it has %q, and the second %q", one, other)
	}
	e.remove(e.members[1])
	twice := announcer(of("lab", node("master-1", "192.0.2.31")), e.now)
	e.add(twice, "192.0.2.31")
	e.run(time.Minute)
	if c := twice.Claims()[0]; c.State == Established || c.State == Announcing || hosts(listeners["lab"], e.now) != second {
		t.Errorf("a second host of the name in one cluster: %+v, and its cluster has %q", c, hosts(listeners["lab"], e.now))
	}
}
