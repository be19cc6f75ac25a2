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
	for _, facts := range b.facts {
		for _, f := range facts {
			at = wire.Sooner(wire.Sooner(at, f.expires), f.renewal())
		}
	}
	for _, q := range b.questions {
		at = wire.Sooner(at, q.at)
	}
	return at, !at.IsZero()
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
	for _, facts := range b.facts {
		for _, f := range facts {
			switch rr := f.rr.(type) {
			case *dns.PTR:
				if srv := (topic{wire.Key(rr.Ptr), dns.TypeSRV}); len(b.facts[srv]) == 0 {
					want[srv] = rr.Ptr
				}
			case *dns.SRV:
				if name := wire.Key(rr.Target); !b.addressed(name) {
					want[topic{name, dns.TypeA}] = rr.Target
					want[topic{name, dns.TypeAAAA}] = rr.Target
				}
			}
		}
	}
	maps.DeleteFunc(b.questions, func(t topic, _ *question) bool { return want[t] == "" })
	for t, name := range want {
		if b.questions[t] == nil {
			wait := b.jitter(20*time.Millisecond, 120*time.Millisecond)
			b.questions[t] = &question{name: name, at: now.Add(wait), wait: firstWait}
		}
	}
}

// ask writes questions with their known answers, so that only other hosts answer (RFC 6762 7.1).
// What does not fit follows in further packets.
func (b *Browser) ask(now time.Time, asked map[topic]string) (packets [][]byte) {
	m := &dns.Msg{Compress: true}
	var known []dns.RR
	for _, t := range sortedTopics(asked) {
		q := dns.Question{Name: asked[t], Qtype: t.kind, Qclass: dns.ClassINET}
		if m.Question = append(m.Question, q); m.Len() > wire.MaxBytes {
			m.Question = m.Question[:len(m.Question)-1]
			packets = wire.Pack(packets, m)
			m = &dns.Msg{Compress: true, Question: []dns.Question{q}}
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
	last := func(t topic) int {
		if t.kind == dns.TypePTR {
			return 1
		}
		return 0
	}
	return slices.SortedFunc(maps.Keys(asked), func(a, b topic) int {
		return cmp.Or(last(a)-last(b), cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
	})
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
