package announce

import (
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
)

const (
	mostDeferred = 32  // queries of several packets
	mostKnown    = 512 // known answers of such a query
	// legacyTTL is for plain resolvers, which receive no goodbye (RFC 6762 6.7).
	legacyTTL = 10 * time.Second
)

// query is a query with the known answers of its sender.
type query struct {
	from      netip.AddrPort
	id        uint16
	questions []dns.Question
	known     []wire.Record
	probe     bool      // its sender probes for the name
	alone     bool      // it was sent by unicast
	legacy    bool      // a plain resolver asks, which receives no multicast (RFC 6762 6.7)
	due       time.Time // when to answer it if no further packet arrives
}

// Receive handles a packet. Call Tick after it.
func (r *Responder) Receive(now time.Time, p wire.Packet) {
	if !r.link.Near(p.From.Addr()) {
		return
	}
	m, ok := wire.Parse(p.Data)
	if !ok {
		return
	}
	// This host's own responses are no conflict, but its queries are answered.
	own, legacy := r.link.Own(p.From.Addr()), p.From.Port() != wire.Port
	if m.Response {
		if !own && !legacy {
			r.checkConflicts(now, p.From.Addr(), m.Answers)
		}
		return
	}
	q := &query{
		from: p.From, id: m.Id, questions: m.Question, known: m.Answers,
		probe: len(m.Authority) > 0 && !own, alone: !p.Multicast, legacy: legacy,
	}
	if q.probe {
		r.breakTies(now, m.Authority)
	}
	r.assemble(now, q, m.Truncated)
}

// assemble waits for further packets of known answers if they do not fit into one (RFC 6762 7.2).
func (r *Responder) assemble(now time.Time, q *query, more bool) {
	if first := r.deferred[q.from]; first != nil {
		first.questions = append(first.questions, q.questions...)
		first.known = append(first.known, q.known...)
		first.probe = first.probe || q.probe
		more = more && max(len(first.known), len(first.questions)) <= mostKnown
		q = first
	} else {
		more = more && !q.legacy && len(r.deferred) < mostDeferred
	}
	if !more {
		delete(r.deferred, q.from)
		r.answer(now, q)
		return
	}
	q.due = now.Add(r.jitter(400*time.Millisecond, 500*time.Millisecond))
	r.deferred[q.from] = q
}

// answer answers a query by unicast or by multicast, now or after a random delay (RFC 6762 6).
func (r *Responder) answer(now time.Time, q *query) {
	var alone, all []*owned
	shared := false
	for _, question := range q.questions {
		byUnicast := q.alone || q.legacy || question.Qclass&wire.TopBit != 0
		for _, o := range r.matching(question) {
			switch {
			case q.knows(o) && !q.probe:
				continue
			case !byUnicast:
				all = append(all, o)
			case q.legacy || now.Sub(o.last) < o.ttl()/4:
				alone = append(alone, o)
			default: // the records of other hosts may have expired
				all = append(all, o)
				if q.probe {
					alone = append(alone, o)
				}
			}
			shared = shared || o.shared
		}
	}
	if len(alone) > 0 {
		r.reply(now, q, alone)
	}
	gap, at := betweenSame, now
	if q.probe {
		gap = betweenProofs
	} else if shared { // other hosts answer this question too
		at = now.Add(r.jitter(20*time.Millisecond, 120*time.Millisecond))
	}
	for _, o := range all {
		o.schedule(at, gap)
	}
}

// matching are the records that answer a question, or the NSEC record of a name that has none.
func (r *Responder) matching(q dns.Question) (found []*owned) {
	if class := q.Qclass &^ wire.TopBit; class != dns.ClassINET && class != dns.ClassANY {
		return nil
	}
	name, nsec := wire.Key(q.Name), []*owned(nil)
	for _, c := range r.claims {
		if !c.answers() {
			continue
		}
		for _, o := range c.records {
			wanted := o.kind() == q.Qtype || q.Qtype == dns.TypeANY && o.kind() != dns.TypeNSEC
			if o.name() == name && wanted {
				found = append(found, o)
			}
		}
		if o := c.nsec(name); o != nil {
			nsec = []*owned{o}
		}
	}
	if len(found) == 0 {
		return nsec
	}
	return found
}

// knows reports whether the sender of a query has a record for at least half of its TTL (RFC 6762
// 7.1).
func (q *query) knows(o *owned) bool {
	return slices.ContainsFunc(q.known, func(h wire.Record) bool {
		return h.Header().Ttl >= o.rr.Header().Ttl/2 && dns.IsDuplicate(h.RR, o.rr)
	})
}

// schedule plans the multicast of a record, not sooner than a gap after the last one.
func (o *owned) schedule(at time.Time, gap time.Duration) {
	if earliest := o.last.Add(gap); !o.last.IsZero() && at.Before(earliest) {
		at = earliest
	}
	o.due = wire.Sooner(o.due, at)
}

// announceDue multicasts the records that are due, with the additional ones.
func (r *Responder) announceDue(now time.Time) {
	var answers, along []dns.RR
	var due []*owned
	for _, c := range r.claims {
		for _, o := range c.records {
			if !o.due.IsZero() && !o.due.After(now) && c.answers() {
				o.last, o.due = now, time.Time{}
				due, answers = append(due, o), add(answers, o, o.ttl(), true)
			}
		}
	}
	for _, o := range r.additional(due) {
		if o.last.IsZero() || now.Sub(o.last) >= betweenSame {
			o.last, o.due = now, time.Time{}
			along = add(along, o, o.ttl(), true)
		}
	}
	r.ready = append(r.ready, wire.ToGroups(wire.Responses(answers, along))...)
}

// additional are the records that go along with answers (RFC 6763 12).
func (r *Responder) additional(answers []*owned) (along []*owned) {
	add := func(c *claim, name string, types ...uint16) {
		for _, o := range c.records {
			if o.name() == name && slices.Contains(types, o.kind()) &&
				!slices.Contains(answers, o) && !slices.Contains(along, o) {
				along = append(along, o)
			}
		}
	}
	for _, c := range r.claims {
		host := wire.Key(c.host.FullName(c.Within))
		for _, o := range answers {
			if !slices.Contains(c.records, o) {
				continue
			}
			switch rr := o.rr.(type) {
			case *dns.PTR:
				if rr.Hdr.Name != wire.Directory {
					add(c, wire.Key(rr.Ptr), dns.TypeSRV, dns.TypeTXT, dns.TypeA, dns.TypeAAAA)
					add(c, host, dns.TypeA, dns.TypeAAAA)
				}
			case *dns.SRV, *dns.A, *dns.AAAA:
				add(c, host, dns.TypeA, dns.TypeAAAA, dns.TypeNSEC)
			}
		}
	}
	return along
}

// reply answers a query by unicast.
func (r *Responder) reply(now time.Time, q *query, answers []*owned) {
	if !r.quota.Take(now, q.from.Addr()) {
		return
	}
	form := func(list []*owned) (rrs []dns.RR) {
		for _, o := range list {
			ttl := o.ttl()
			if q.legacy {
				ttl = min(ttl, legacyTTL)
			}
			rrs = add(rrs, o, ttl, !q.legacy)
		}
		return rrs
	}
	m := wire.Response(form(answers), form(r.additional(answers)))
	if q.legacy {
		m.Id, m.Question = q.id, slices.Clone(q.questions[:min(len(q.questions), 1)])
		for i := range m.Question {
			m.Question[i].Qclass &^= wire.TopBit
		}
	}
	wire.Fit(m)
	for _, p := range wire.Pack(nil, m) {
		r.ready = append(r.ready, wire.Outgoing{To: q.from, Data: p})
	}
}
