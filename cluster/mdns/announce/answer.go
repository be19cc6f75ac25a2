package announce

import (
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
)

const (
	// mostDeferred bounds those whose questions go over several packets, and mostKnown what each of
	// them may know already.
	mostDeferred = 32
	mostKnown    = 512
)

// query is a question with what who asks knows already.
type query struct {
	from      netip.AddrPort
	id        uint16
	questions []dns.Question
	known     []wire.Record
	probe     bool      // it asks in order to have the name
	alone     bool      // it was sent to this host alone
	due       time.Time // when it is answered, if more is to come
}

// legacy says that a plain resolver asks, which hears no multicast (RFC 6762 6.7).
func (q *query) legacy() bool { return q.from.Port() != wire.Port }

// Receive takes a packet in. Call Tick after it.
func (r *Responder) Receive(now time.Time, p wire.Packet) {
	if !r.link.Near(p.From.Addr()) {
		return
	}
	m, ok := wire.Parse(p.Data)
	if !ok {
		return
	}
	own := r.link.Own(p.From.Addr()) // what this machine says of itself is no contest; but what it asks is answered
	if m.Response {
		if !own && p.From.Port() == wire.Port {
			r.contested(now, p.From.Addr(), m.Answers)
		}
		return
	}
	q := &query{from: p.From, id: m.Id, questions: m.Question, known: m.Answers, probe: len(m.Authority) > 0 && !own, alone: !p.Multicast}
	if q.probe {
		r.ties(now, m.Authority)
	}
	r.assemble(now, q, m.Truncated)
}

// assemble waits for the rest of what a host knows already when it does not fit into one packet
// (RFC 6762 7.2).
func (r *Responder) assemble(now time.Time, q *query, more bool) {
	first, waiting := r.deferred[q.from]
	switch {
	case waiting:
		first.questions = append(first.questions, q.questions...)
		first.known = append(first.known, q.known...)
		first.probe = first.probe || q.probe
		if len(first.known) > mostKnown || len(first.questions) > mostKnown {
			more = false
		}
		q = first
	case more && !q.legacy() && len(r.deferred) < mostDeferred:
		r.deferred[q.from] = q
	default:
		r.answer(now, q)
		return
	}
	if q.due = now.Add(r.jitter(400*time.Millisecond, 500*time.Millisecond)); !more {
		delete(r.deferred, q.from)
		r.answer(now, q)
	}
}

// undefer answers those from whom no more has come.
func (r *Responder) undefer(now time.Time) {
	for from, q := range r.deferred {
		if !q.due.After(now) {
			delete(r.deferred, from)
			r.answer(now, q)
		}
	}
}

// answer says what this host knows to each question, by unicast or by multicast, now or in a moment
// (RFC 6762 6).
func (r *Responder) answer(now time.Time, q *query) {
	var alone, all []*owned
	shared := false
	for _, question := range q.questions {
		byUnicast := q.alone || q.legacy() || question.Qclass&wire.TopBit != 0
		for _, o := range r.matching(question) {
			switch {
			case q.knows(o) && !q.probe:
				continue
			case !byUnicast:
				all = append(all, o)
			case q.legacy() || now.Sub(o.last) < time.Duration(o.rr.Header().Ttl)*time.Second/4:
				alone = append(alone, o)
			default: // others may have forgotten it
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
	} else if shared { // others have answers to this question too
		at = now.Add(r.jitter(20*time.Millisecond, 120*time.Millisecond))
	}
	for _, o := range all {
		o.schedule(at, gap)
	}
}

// matching are the records that answer a question, or the one that says that there is none.
func (r *Responder) matching(q dns.Question) (found []*owned) {
	if class := q.Qclass &^ wire.TopBit; class != dns.ClassINET && class != dns.ClassANY {
		return nil
	}
	name, owner := wire.Key(q.Name), (*claim)(nil)
	for _, c := range r.claims {
		if !c.answers() {
			continue
		}
		for _, o := range c.records {
			t := o.rr.Header().Rrtype
			if o.name() == name && (t == q.Qtype || q.Qtype == dns.TypeANY && t != dns.TypeNSEC) {
				found = append(found, o)
			}
		}
		if c.probed(name) {
			owner = c
		}
	}
	if len(found) == 0 && owner != nil {
		return owner.nothingElse(name)
	}
	return found
}

// nothingElse is the record that says which types a name has.
func (c *claim) nothingElse(name string) (found []*owned) {
	for _, o := range c.records {
		if o.rr.Header().Rrtype == dns.TypeNSEC && o.name() == name {
			found = append(found, o)
		}
	}
	return found
}

// knows says whether who asks has the record, for at least half of its time yet (RFC 6762 7.1).
func (q *query) knows(o *owned) bool {
	return slices.ContainsFunc(q.known, func(h wire.Record) bool {
		return h.Header().Ttl >= o.rr.Header().Ttl/2 && dns.IsDuplicate(h.RR, o.rr)
	})
}

// schedule has a record multicast at a time, and not sooner than so long after the last time.
func (o *owned) schedule(at time.Time, gap time.Duration) {
	if sooner := o.last.Add(gap); !o.last.IsZero() && at.Before(sooner) {
		at = sooner
	}
	if o.due.IsZero() || at.Before(o.due) {
		o.due = at
	}
}

// speak multicasts what is due, and beside it what the next question would be about.
func (r *Responder) speak(now time.Time) {
	var answers, beside []dns.RR
	var said []*owned
	for _, c := range r.claims {
		for _, o := range c.records {
			if !o.due.IsZero() && !o.due.After(now) && c.answers() {
				o.last, o.due = now, time.Time{}
				if said = append(said, o); !contains(answers, o) {
					answers = append(answers, inPacket(o, o.rr.Header().Ttl, true))
				}
			}
		}
	}
	for _, o := range r.beside(said) {
		if o.last.IsZero() || now.Sub(o.last) >= betweenSame {
			o.last, o.due = now, time.Time{}
			beside = append(beside, inPacket(o, o.rr.Header().Ttl, true))
		}
	}
	r.ready = append(r.ready, wire.ToGroups(wire.Responses(answers, beside))...)
}

// contains says whether a packet holds what hosts share already.
func contains(rrs []dns.RR, o *owned) bool {
	return o.shared && slices.ContainsFunc(rrs, func(rr dns.RR) bool { return dns.IsDuplicate(rr, o.rr) })
}

// beside are the records that go along with others (RFC 6763 12).
func (r *Responder) beside(said []*owned) (along []*owned) {
	add := func(c *claim, name string, types ...uint16) {
		for _, o := range c.records {
			if o.name() == name && slices.Contains(types, o.rr.Header().Rrtype) && !slices.Contains(said, o) && !slices.Contains(along, o) {
				along = append(along, o)
			}
		}
	}
	for _, c := range r.claims {
		host := wire.Key(wire.Canonical(c.host.called(c.within)))
		for _, o := range said {
			if !slices.Contains(c.records, o) {
				continue
			}
			switch rr := o.rr.(type) {
			case *dns.PTR:
				if rr.Hdr.Name != directory {
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

// reply answers one who is to be answered alone.
func (r *Responder) reply(now time.Time, q *query, answers []*owned) {
	if !r.quota.Take(now, q.from.Addr()) {
		return
	}
	m := wire.Response(nil, nil)
	form := func(list []*owned) (rrs []dns.RR) {
		for _, o := range list {
			ttl := o.rr.Header().Ttl
			if q.legacy() {
				ttl = min(ttl, wire.Seconds(legacyTTL))
			}
			if !contains(rrs, o) {
				rrs = append(rrs, inPacket(o, ttl, !q.legacy()))
			}
		}
		return rrs
	}
	if q.legacy() {
		m.Id, m.Question = q.id, slices.Clone(q.questions[:min(len(q.questions), 1)])
		for i := range m.Question {
			m.Question[i].Qclass &^= wire.TopBit
		}
	}
	m.Answer, m.Extra = form(answers), form(r.beside(answers))
	for _, section := range []*[]dns.RR{&m.Extra, &m.Answer} {
		for len(*section) > 0 && m.Len() > wire.MaxBytes {
			*section = (*section)[:len(*section)-1]
		}
	}
	for _, p := range wire.Pack(nil, m) {
		r.ready = append(r.ready, wire.Outgoing{To: q.from, Data: p})
	}
}
