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

// speaker is one who has a socket on the test's link.
type speaker interface {
	Receive(time.Time, Packet)
	Tick(time.Time) []Outgoing
	Next() (time.Time, bool)
}

// member is a speaker with its address.
type member struct {
	speaker
	at   netip.AddrPort
	off  bool // its wire is cut
	deaf bool // it hears nothing
}

// ether is a link in virtual time: what one says all others hear at once, and itself too, as the
// kernel does it.
type ether struct {
	t       *testing.T
	now     time.Time
	members []*member
	log     []sent
}

// sent is a packet that was on the link.
type sent struct {
	after time.Duration
	from  netip.Addr
	to    netip.AddrPort
	msg   *dns.Msg
	bytes int
}

var start = time.Unix(1_000_000, 0)

func newEther(t *testing.T) *ether { return &ether{t: t, now: start} }

func (e *ether) add(s speaker, address string) *member {
	m := &member{speaker: s, at: netip.AddrPortFrom(netip.MustParseAddr(address), Port)}
	e.members = append(e.members, m)
	return m
}

func (e *ether) remove(m *member) {
	e.members = slices.DeleteFunc(e.members, func(o *member) bool { return o == m })
}

// carry delivers packets, and what is said because of them.
func (e *ether) carry(from *member, out []Outgoing) {
	for _, o := range out {
		msg := new(dns.Msg)
		if err := msg.Unpack(o.Data); err != nil {
			e.t.Fatalf("%v sent a packet that nobody can read: %v", from.at, err)
		}
		if len(o.Data) > mostBytes {
			e.t.Errorf("%v sent %d bytes, more than a frame holds", from.at, len(o.Data))
		}
		e.log = append(e.log, sent{e.now.Sub(start), from.at.Addr(), o.To, msg, len(o.Data)})
		for _, m := range slices.Clone(e.members) {
			if !from.off && !m.off && !m.deaf && (!o.To.IsValid() || o.To == m.at) {
				m.Receive(e.now, Packet{From: from.at, Multicast: !o.To.IsValid(), Data: o.Data})
				e.carry(m, m.Tick(e.now))
			}
		}
	}
}

// inject is a packet of one who is no member.
func (e *ether) inject(from string, msg *dns.Msg) {
	e.t.Helper()
	data, err := msg.Pack()
	if err != nil {
		e.t.Fatal(err)
	}
	for _, m := range slices.Clone(e.members) {
		m.Receive(e.now, Packet{From: netip.MustParseAddrPort(from), Multicast: true, Data: data})
		e.carry(m, m.Tick(e.now))
	}
}

// run lets so much time pass.
func (e *ether) run(d time.Duration) {
	e.t.Helper()
	end := e.now.Add(d)
	for range 1_000_000 {
		var next *member
		at := end
		for _, m := range e.members {
			if t, ok := m.Next(); ok && t.Before(at) {
				next, at = m, t
			}
		}
		if at.After(e.now) {
			e.now = at
		}
		if next == nil {
			e.now = end
			return
		}
		e.carry(next, next.Tick(e.now))
	}
	e.t.Fatalf("at %v somebody wants to be woken without end", e.now.Sub(start))
}

// since forgets what was said before.
func (e *ether) clear() { e.log = nil }

// even is a jitter without chance.
func even(low, _ time.Duration) time.Duration { return low }

var lan = Link{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")}

// linkOf is the link as a host with an address stands on it.
func linkOf(addresses ...string) (l Link) {
	for _, a := range addresses {
		bits := 24
		if strings.Contains(a, ":") {
			bits = 64
		}
		l = append(l, netip.PrefixFrom(netip.MustParseAddr(a), bits))
	}
	return l
}

// node is what a node of the cluster announces.
func node(name string, addresses ...string) Host {
	h := Host{Name: record.Name(name), Reverse: true, Services: []Service{{Instance: "ostest Workstation-" + name, Type: Workstation, Port: 42424, TTL: 3200 * time.Second}}}
	for _, a := range addresses {
		h.Addresses = append(h.Addresses, netip.MustParseAddr(a))
	}
	return h
}

// announcer is a responder with one host, set at once.
func announcer(h Host, now time.Time) *Responder {
	var own []string
	for _, a := range h.Addresses {
		own = append(own, a.String())
	}
	r := NewResponder(linkOf(own...), even)
	r.Set(now, linkOf(own...), []Host{h})
	return r
}

// established is a link with one announcer that has said everything, some time ago.
func established(t *testing.T, h Host) (*ether, *Responder) {
	t.Helper()
	e := newEther(t)
	r := announcer(h, e.now)
	e.add(r, h.Addresses[0].String())
	e.run(time.Minute)
	e.clear()
	return e, r
}

// said are the records of the log in words: when, to whom, section, name, type, data, TTL, flush.
func (e *ether) said() (lines []string) {
	for _, s := range e.log {
		to := "all"
		if s.to.IsValid() {
			to = s.to.String()
		}
		kind := "query"
		if s.msg.Response {
			kind = "response"
		}
		var parts []string
		for _, q := range s.msg.Question {
			parts = append(parts, "? "+words(q.Name)+" "+dns.TypeToString[q.Qtype]+flushed(q.Qclass))
		}
		for name, section := range map[string][]dns.RR{"=": s.msg.Answer, "!": s.msg.Ns, "+": s.msg.Extra} {
			for _, rr := range section {
				parts = append(parts, name+" "+line(rr))
			}
		}
		slices.Sort(parts)
		lines = append(lines, fmt.Sprintf("%v %s to %s: %s", s.after, kind, to, strings.Join(parts, "; ")))
	}
	return lines
}

func words(name string) string { return strings.ReplaceAll(name, `\ `, "_") }

func flushed(class uint16) string {
	if class&topBit != 0 {
		return " top"
	}
	return ""
}

func line(rr dns.RR) string {
	h := *rr.Header()
	rr.Header().Class &^= topBit
	fields := strings.Fields(words(rr.String()))
	rr.Header().Class = h.Class
	return fmt.Sprintf("%s %s %s %ds%s", fields[0], fields[3], strings.Join(fields[4:], " "), h.Ttl, flushed(h.Class))
}

// ask is a question as somebody asks it.
func ask(name string, kind uint16, change ...func(*dns.Msg)) *dns.Msg {
	m := &dns.Msg{Question: []dns.Question{{Name: name, Qtype: kind, Qclass: dns.ClassINET}}}
	for _, c := range change {
		c(m)
	}
	return m
}

func rr(t *testing.T, text string) dns.RR {
	t.Helper()
	r, err := dns.NewRR(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
