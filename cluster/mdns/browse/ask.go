package browse

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
)

// Next is the latest time for the next Tick; ok is false only before the first one.
func (b *Browser) Next() (at time.Time, ok bool) {
	first := func(t time.Time) {
		if !t.IsZero() && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	for _, facts := range b.facts {
		for _, f := range facts {
			first(f.expires)
			first(f.renewal())
		}
	}
	for _, q := range b.questions {
		first(q.at)
	}
	return at, ok
}

// Tick returns the queries to send now. Call it at the start, after each packet, and at the time of
// Next.
func (b *Browser) Tick(now time.Time) []wire.Outgoing {
	b.forget(now)
	b.updateQuestions(now)
	asked := map[topic]string{}
	for t, q := range b.questions {
		if !q.at.After(now) {
			asked[t] = q.name
			q.at, q.wait = now.Add(q.wait), min(2*q.wait, longest)
		}
	}
	for t, facts := range b.facts {
		for _, f := range facts {
			if at := f.renewal(); !at.IsZero() && !at.After(now) {
				asked[t] = f.rr.Header().Name
				f.asked++
			}
		}
	}
	return wire.ToGroups(b.ask(now, asked))
}

// updateQuestions adds questions for unknown records and removes those for known ones. The question
// for the hosts of a service stays, ever more rarely.
func (b *Browser) updateQuestions(now time.Time) {
	want := map[topic]string{}
	for _, t := range b.wish.Types {
		name := string(t) + "." + wire.Domain
		want[topic{name, dns.TypePTR}] = name
	}
	for t, facts := range b.facts {
		for _, f := range facts {
			switch rr := f.rr.(type) {
			case *dns.PTR:
				if srv := (topic{wire.Key(rr.Ptr), dns.TypeSRV}); t.kind == dns.TypePTR && len(b.facts[srv]) == 0 {
					want[srv] = rr.Ptr
				}
			case *dns.SRV:
				if name := wire.Key(rr.Target); !b.addressed(name) {
					want[topic{name, dns.TypeA}], want[topic{name, dns.TypeAAAA}] = rr.Target, rr.Target
				}
			}
		}
	}
	for t := range b.questions {
		if _, wanted := want[t]; !wanted {
			delete(b.questions, t)
		}
	}
	for t, name := range want {
		if b.questions[t] == nil {
			b.questions[t] = &question{name: name, at: now.Add(b.jitter(20*time.Millisecond, 120*time.Millisecond)), wait: firstWait}
		}
	}
}

// ask writes questions with their known answers, so that only other hosts answer (RFC 6762 7.1).
// What does not fit follows in further packets.
func (b *Browser) ask(now time.Time, asked map[topic]string) (packets [][]byte) {
	m := &dns.Msg{Compress: true}
	var known []dns.RR
	for _, t := range sortedTopics(asked) {
		m.Question = append(m.Question, dns.Question{Name: asked[t], Qtype: t.kind, Qclass: dns.ClassINET})
		if m.Len() > wire.MaxBytes {
			last := m.Question[len(m.Question)-1]
			m.Question = m.Question[:len(m.Question)-1]
			packets = wire.Pack(packets, m)
			m = &dns.Msg{Compress: true, Question: []dns.Question{last}}
		}
		if t.kind == dns.TypePTR {
			known = append(known, b.known(now, t)...)
		}
	}
	if len(m.Question) == 0 {
		return packets
	}
	for _, rr := range known {
		if m.Answer = append(m.Answer, rr); m.Len() > wire.MaxBytes {
			m.Answer = m.Answer[:len(m.Answer)-1]
			m.Truncated = true // another packet follows
			packets = wire.Pack(packets, m)
			m = &dns.Msg{Compress: true, Answer: []dns.RR{rr}}
		}
	}
	return wire.Pack(packets, m)
}

// sortedTopics puts questions for services last, as their known answers follow in the same packet.
func sortedTopics(asked map[topic]string) []topic {
	all := slices.Collect(maps.Keys(asked))
	slices.SortFunc(all, func(a, b topic) int {
		if last := a.kind == dns.TypePTR; last != (b.kind == dns.TypePTR) {
			return map[bool]int{true: 1, false: -1}[last]
		}
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
	})
	return all
}

// known are the answers to a question that have at least half of their TTL left.
func (b *Browser) known(now time.Time, t topic) (all []dns.RR) {
	for _, f := range b.facts[t] {
		if left := f.expires.Sub(now); left >= f.life()/2 {
			rr := dns.Copy(f.rr)
			rr.Header().Ttl = wire.Seconds(left)
			all = append(all, rr)
		}
	}
	return all
}
