// Package mdnslink is a link in virtual time on which multicast DNS is tested: every packet reaches
// all its members at once.
package mdnslink

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
)

// Host is a state machine that sends and receives on a link.
type Host interface {
	Receive(time.Time, wire.Packet)
	Tick(time.Time) []wire.Outgoing
	Next() (time.Time, bool)
}

// Member is a host with its address.
type Member struct {
	Host
	At      netip.AddrPort
	Cut     bool // it neither sends nor receives
	Ignores bool // it does not receive
}

// Link delivers what one member sends to all members, also to the sender, as the kernel does.
type Link struct {
	t       *testing.T
	Now     time.Time
	Members []*Member
	Log     []Sent
}

// Sent is a packet that was on the link.
type Sent struct {
	After time.Duration // since Start
	To    netip.AddrPort
	Msg   *dns.Msg
}

// Start is when every test begins.
var Start = time.Unix(1_000_000, 0)

// New makes a link without members.
func New(t *testing.T) *Link { return &Link{t: t, Now: Start} }

// Add connects a host.
func (l *Link) Add(h Host, address string) *Member {
	m := &Member{Host: h, At: netip.AddrPortFrom(netip.MustParseAddr(address), wire.Port)}
	l.Members = append(l.Members, m)
	return m
}

// Remove disconnects a member.
func (l *Link) Remove(m *Member) {
	l.Members = slices.DeleteFunc(l.Members, func(o *Member) bool { return o == m })
}

// Deliver delivers packets, and those that are sent because of them.
func (l *Link) Deliver(from *Member, out []wire.Outgoing) {
	for _, o := range out {
		msg := new(dns.Msg)
		if err := msg.Unpack(o.Data); err != nil {
			l.t.Fatalf("%v sent a packet that cannot be read: %v", from.At, err)
		}
		if len(o.Data) > wire.MaxBytes {
			l.t.Errorf("%v sent %d bytes, more than a frame holds", from.At, len(o.Data))
		}
		l.Log = append(l.Log, Sent{l.Now.Sub(Start), o.To, msg})
		for _, m := range slices.Clone(l.Members) {
			if !from.Cut && !m.Cut && !m.Ignores && (!o.To.IsValid() || o.To == m.At) {
				m.Receive(l.Now, wire.Packet{From: from.At, Multicast: !o.To.IsValid(), Data: o.Data})
				l.Deliver(m, m.Tick(l.Now))
			}
		}
	}
}

// Inject delivers a packet of a host that is not a member.
func (l *Link) Inject(from string, msg *dns.Msg) {
	l.t.Helper()
	data, err := msg.Pack()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, m := range slices.Clone(l.Members) {
		m.Receive(l.Now, wire.Packet{From: netip.MustParseAddrPort(from), Multicast: true, Data: data})
		l.Deliver(m, m.Tick(l.Now))
	}
}

// Run lets time pass.
func (l *Link) Run(d time.Duration) {
	l.t.Helper()
	end := l.Now.Add(d)
	for range 1_000_000 {
		var next *Member
		at := end
		for _, m := range l.Members {
			if t, ok := m.Next(); ok && t.Before(at) {
				next, at = m, t
			}
		}
		if at.After(l.Now) {
			l.Now = at
		}
		if next == nil {
			l.Now = end
			return
		}
		l.Deliver(next, next.Tick(l.Now))
	}
	l.t.Fatalf("at %v a member wants to be woken without end", l.Now.Sub(Start))
}

// Clear forgets the packets so far.
func (l *Link) Clear() { l.Log = nil }

// Even is a jitter without randomness.
func Even(low, _ time.Duration) time.Duration { return low }

// LAN is the link of the tests.
var LAN = wire.Link{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")}

// On is the link as a host with these addresses sees it.
func On(addresses ...string) (l wire.Link) {
	for _, a := range addresses {
		bits := 24
		if strings.Contains(a, ":") {
			bits = 64
		}
		l = append(l, netip.PrefixFrom(netip.MustParseAddr(a), bits))
	}
	return l
}

// Packets are the packets of the log in words: when, to which host, section, name, type, data, TTL, flush.
func (l *Link) Packets() (lines []string) {
	for _, s := range l.Log {
		to := "all"
		if s.To.IsValid() {
			to = s.To.String()
		}
		kind := "query"
		if s.Msg.Response {
			kind = "response"
		}
		var parts []string
		for _, q := range s.Msg.Question {
			parts = append(parts, "? "+words(q.Name)+" "+dns.TypeToString[q.Qtype]+flushed(q.Qclass))
		}
		for name, section := range map[string][]dns.RR{"=": s.Msg.Answer, "!": s.Msg.Ns, "+": s.Msg.Extra} {
			for _, rr := range section {
				parts = append(parts, name+" "+Line(rr))
			}
		}
		slices.Sort(parts)
		lines = append(lines, fmt.Sprintf("%v %s to %s: %s", s.After, kind, to, strings.Join(parts, "; ")))
	}
	return lines
}

func words(name string) string { return strings.ReplaceAll(name, `\ `, "_") }

func flushed(class uint16) string {
	if class&wire.TopBit != 0 {
		return " top"
	}
	return ""
}

// Line is a record in words.
func Line(rr dns.RR) string {
	h := *rr.Header()
	rr.Header().Class &^= wire.TopBit
	fields := strings.Fields(words(rr.String()))
	rr.Header().Class = h.Class
	return fmt.Sprintf("%s %s %s %ds%s", fields[0], fields[3], strings.Join(fields[4:], " "), h.Ttl, flushed(h.Class))
}

// Ask makes a query.
func Ask(name string, kind uint16, change ...func(*dns.Msg)) *dns.Msg {
	m := &dns.Msg{Question: []dns.Question{{Name: name, Qtype: kind, Qclass: dns.ClassINET}}}
	for _, c := range change {
		c(m)
	}
	return m
}

// RR parses a record.
func RR(t testing.TB, text string) dns.RR {
	t.Helper()
	r, err := dns.NewRR(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
