// Package announce is a multicast DNS responder without sockets and without a clock: it probes for a
// host's names, announces and defends them, and answers for them.
package announce

import (
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/record"
)

// The times of RFC 6762 8 and 6.
const (
	probes        = 3
	betweenProbes = 250 * time.Millisecond
	afterTie      = time.Second // before one who came second in a simultaneous probe tries again
	announcements = 2
	betweenSame   = time.Second // two multicasts of one record
	betweenProofs = 250 * time.Millisecond
	// afterLoss is how long one waits who was told that the name is another's, before the next
	// trial. The RFC wants so long after fifteen conflicts; a host that cannot take another name
	// has no reason to try more often.
	afterLoss = 5 * time.Second
	// calm is how long nobody must have contested a name before the next contest is answered at
	// once.
	calm = 10 * time.Second
)

// State is how far a host's announcement has come.
type State string

// The states.
const (
	Probing     State = "probing"     // it asks whether the names are another's, and answers for none of them
	Announcing  State = "announcing"  // they are its own, and it is saying so
	Established State = "established" // it has said so
	Lost        State = "lost"        // another host has one of them; it tries again
)

// Claim is what has become of a host's names.
type Claim struct {
	Name  record.Name
	State State
	// Rival is who has the name, when it is lost, or when the host has its other name.
	Rival  netip.Addr
	Within bool // the host has its other name, below the cluster's
}

// claim is a host that is announced.
type claim struct {
	host    Host
	within  bool // it is called by its other name
	records []*owned
	state   State
	sent    int       // probes or announcements of this state
	at      time.Time // of the next step; zero when there is none
	rival   netip.Addr
	contest time.Time // the last one
}

// answers says whether others may be told of the claim.
func (c *claim) answers() bool { return c.state == Announcing || c.state == Established }

// maybeKnown says whether others may remember the claim: of this responder, or of one before that
// said no goodbye, as one does that another one follows.
func (c *claim) maybeKnown() bool { return c.state != Lost }

// probed says whether a name is one that must be this host's alone.
func (c *claim) probed(name string) bool {
	return slices.ContainsFunc(c.records, func(o *owned) bool { return o.rr.Header().Rrtype == dns.TypeNSEC && o.name() == name })
}

// unique are the records of a name that is probed for.
func (c *claim) unique(name string) (all []*owned) {
	for _, o := range c.records {
		if !o.shared && o.name() == name && o.rr.Header().Rrtype != dns.TypeNSEC {
			all = append(all, o)
		}
	}
	return all
}

// names are those that are probed for.
func (c *claim) names() (all []string) { return probedOf(c.records) }

// wanted are those that the host was to have.
func (c *claim) wanted() (all []string) { return probedOf(records(c.host, false)) }

func probedOf(records []*owned) (all []string) {
	for _, o := range records {
		if o.rr.Header().Rrtype == dns.TypeNSEC {
			all = append(all, o.name())
		}
	}
	return all
}

// Responder announces hosts on one link and answers for them. It is for one goroutine.
type Responder struct {
	link     wire.Link
	jitter   wire.Jitter
	claims   []*claim
	deferred map[netip.AddrPort]*query
	ready    []wire.Outgoing // to be sent at the next turn
	gone     []farewell
	quota    wire.Quota
}

// farewell is a record that goodbye was said to, and until when others may remember it who did not
// hear that.
type farewell struct {
	record *owned
	until  time.Time
}

// mostGone bounds what is remembered of what is true no more.
const mostGone = 64

// New makes one that announces nothing yet.
func New(link wire.Link, jitter wire.Jitter) *Responder {
	return &Responder{link: link, jitter: jitter, deferred: map[netip.AddrPort]*query{}}
}

// Claims says what has become of the hosts.
func (r *Responder) Claims() (all []Claim) {
	for _, c := range r.claims {
		all = append(all, Claim{Name: c.host.Name, State: c.state, Rival: c.rival, Within: c.within})
	}
	return all
}

// Set says which hosts are to be announced from now on, and how this host stands on the link. A
// host whose names stay the same and whose addresses change is announced anew without another
// question (RFC 6762 8.4); what is announced no more is said goodbye to.
func (r *Responder) Set(now time.Time, link wire.Link, hosts []Host) {
	r.link = link
	var kept []*claim
	for _, h := range hosts {
		fresh := &claim{host: h, records: records(h, false), state: Probing, at: now.Add(r.jitter(0, betweenProbes))}
		i := slices.IndexFunc(r.claims, func(c *claim) bool { return c.host.Cluster == h.Cluster && slices.Equal(c.wanted(), fresh.names()) })
		if i < 0 {
			kept = append(kept, fresh)
			continue
		}
		old := r.claims[i]
		if old.within {
			fresh.records = records(h, true)
		}
		r.claims = slices.Delete(r.claims, i, i+1)
		r.replace(now, old, fresh)
		kept = append(kept, old)
	}
	for _, gone := range r.claims {
		r.goodbye(now, gone.records, gone.maybeKnown())
	}
	r.claims = kept
}

// Again says once more what is announced and what is no more, to those who could not hear it
// before: a host that speaks in another family again may have changed its name meanwhile, and
// others remember what they heard by that family.
func (r *Responder) Again(now time.Time) {
	r.gone = slices.DeleteFunc(r.gone, func(f farewell) bool { return !f.until.After(now) || r.has(f.record) })
	var gone []*owned
	for _, f := range r.gone {
		gone = append(gone, f.record)
	}
	r.part(gone)
	for _, c := range r.claims {
		if c.answers() {
			c.state, c.sent, c.at = Announcing, 0, now
		}
	}
}

// has says whether a record is announced, or is to be.
func (r *Responder) has(o *owned) bool {
	return slices.ContainsFunc(r.claims, func(c *claim) bool {
		return slices.ContainsFunc(c.records, func(own *owned) bool { return dns.IsDuplicate(own.rr, o.rr) })
	})
}

// replace gives a claim other records.
func (r *Responder) replace(now time.Time, c, fresh *claim) {
	var gone []*owned
	for _, o := range c.records {
		i := slices.IndexFunc(fresh.records, func(f *owned) bool { return dns.IsDuplicate(f.rr, o.rr) })
		if i < 0 {
			gone = append(gone, o)
			continue
		}
		fresh.records[i] = o
	}
	if len(gone) == 0 && len(c.records) == len(fresh.records) {
		return
	}
	c.host, c.records = fresh.host, fresh.records
	r.goodbye(now, gone, c.answers())
	if c.answers() {
		c.state, c.sent, c.at = Announcing, 0, now
	}
}

// goodbye says that records are no longer true. It flushes nothing: another host may have the name
// by now. Which types of service there are is true of others as well.
func (r *Responder) goodbye(now time.Time, gone []*owned, known bool) {
	if !known {
		return
	}
	for _, o := range gone {
		r.gone = append(r.gone, farewell{o, now.Add(time.Duration(o.rr.Header().Ttl) * time.Second)})
	}
	r.gone = r.gone[max(0, len(r.gone)-mostGone):]
	r.part(gone)
}

// part has goodbyes said.
func (r *Responder) part(gone []*owned) {
	var rrs []dns.RR
	for _, o := range gone {
		if o.rr.Header().Rrtype != dns.TypeNSEC && o.name() != directory {
			rrs = append(rrs, inPacket(o, 0, false))
		}
	}
	r.ready = append(r.ready, wire.ToGroups(wire.Responses(rrs, nil))...)
}

// Leave is the last that is said: goodbye to everything that was announced (RFC 6762 10.1).
func (r *Responder) Leave() []wire.Outgoing {
	for _, c := range r.claims {
		if c.maybeKnown() {
			r.part(c.records)
		}
	}
	r.claims = nil
	return r.take()
}

func (r *Responder) take() []wire.Outgoing {
	out := r.ready
	r.ready = nil
	return out
}

// Next is when Tick is to be called at the latest; ok is false when only a packet can change
// anything.
func (r *Responder) Next() (at time.Time, ok bool) {
	sooner := func(t time.Time) {
		if !t.IsZero() && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	for _, c := range r.claims {
		sooner(c.at)
		for _, o := range c.records {
			sooner(o.due)
		}
	}
	for _, q := range r.deferred {
		sooner(q.due)
	}
	return at, ok
}

// Tick returns what is to be sent now. It is called after each packet, and when Next says so.
func (r *Responder) Tick(now time.Time) []wire.Outgoing {
	r.undefer(now)
	for _, c := range r.claims {
		if !c.at.IsZero() && !c.at.After(now) {
			r.step(now, c)
		}
	}
	r.speak(now)
	return r.take()
}

// step takes a claim a step further.
func (r *Responder) step(now time.Time, c *claim) {
	if c.state == Lost {
		c.state, c.sent = Probing, 0
	}
	if c.state == Probing && c.sent < probes {
		r.ready = append(r.ready, wire.ToGroups(wire.Pack(nil, probe(c)))...)
		c.sent, c.at = c.sent+1, now.Add(betweenProbes)
		return
	}
	if c.state == Probing {
		c.state, c.sent = Announcing, 0
		if !c.within {
			c.rival = netip.Addr{}
		}
	}
	for _, o := range c.records {
		if o.rr.Header().Rrtype != dns.TypeNSEC {
			o.due = now
		}
	}
	if c.sent, c.at = c.sent+1, now.Add(betweenSame); c.sent == announcements {
		c.state, c.at = Established, time.Time{}
	}
}

// probe asks for everything of the claim's names, and says what is going to be said of them. It
// wants its answer by multicast: another program of this machine may have the port too, and the
// kernel gives a unicast packet to one of them only (RFC 6762 15.1).
func probe(c *claim) *dns.Msg {
	m := &dns.Msg{Compress: true}
	for _, name := range c.names() {
		written := name
		for _, o := range c.unique(name) {
			written = o.rr.Header().Name
			m.Ns = append(m.Ns, inPacket(o, o.rr.Header().Ttl, false))
		}
		m.Question = append(m.Question, dns.Question{Name: written, Qtype: dns.TypeANY, Qclass: dns.ClassINET})
	}
	return m
}
