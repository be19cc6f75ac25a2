// Package announce is a multicast DNS responder without sockets and without a clock: it probes for
// a host's names, announces and defends them, and answers for them.
package announce

import (
	"cmp"
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
	afterTie      = time.Second // before a host that lost a simultaneous probe retries
	announcements = 2
	betweenSame   = time.Second // two multicasts of one record
	betweenProofs = 250 * time.Millisecond
	afterLoss     = 5 * time.Second // before a host probes again for a lost name
	// calm is the least time between two conflicts of which the second is probed for at once.
	calm     = 10 * time.Second
	mostGone = 64 // the departed records that are kept
)

// State is how far a host's announcement has come.
type State string

// The states.
const (
	Probing     State = "probing"     // it probes for the names, and does not answer for them yet
	Announcing  State = "announcing"  // the names are its own, and it announces them
	Established State = "established" // it has announced them
	Lost        State = "lost"        // another host has one of them; it retries
)

// States are all states.
func States() []State { return []State{Probing, Announcing, Established, Lost} }

// Claim is the state of a host's names.
type Claim struct {
	Name   record.Name
	State  State
	Rival  netip.Addr // the host that has the name, if it is lost or Within
	Within bool       // the host has its other name, below the cluster's
}

// claim is a host that is announced.
type claim struct {
	Claim
	host    wire.Host
	records []*owned
	sent    int       // probes or announcements of this state
	at      time.Time // of the next step; zero for none
	contest time.Time // the last conflict
}

// answers reports whether the claim's records may be announced.
func (c *claim) answers() bool { return c.State == Announcing || c.State == Established }

// begin begins a state, with its first step at a time.
func (c *claim) begin(state State, at time.Time) { c.State, c.sent, c.at = state, 0, at }

// nsec is the NSEC record of a name, or nil. Exactly the names that are probed for have one.
func (c *claim) nsec(name string) *owned {
	return first(c.records, func(o *owned) bool {
		return o.kind() == dns.TypeNSEC && o.name() == name
	})
}

// unique are the records of a name that is probed for.
func (c *claim) unique(name string) (all []dns.RR) {
	for _, o := range c.records {
		if !o.shared && o.name() == name && o.kind() != dns.TypeNSEC {
			all = append(all, o.rr)
		}
	}
	return all
}

// probedNames are the names that must be this host's alone.
func probedNames(records []*owned) (all []string) {
	for _, o := range records {
		if o.kind() == dns.TypeNSEC {
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
	ready    []wire.Outgoing // to be sent at the next Tick
	gone     []*owned        // former records, which hosts that missed the goodbye may remember
	quota    wire.Quota
}

// New makes a Responder that announces nothing yet.
func New(link wire.Link, jitter wire.Jitter) *Responder {
	return &Responder{link: link, jitter: jitter, deferred: map[netip.AddrPort]*query{}}
}

// Claims are the states of the hosts.
func (r *Responder) Claims() (all []Claim) {
	for _, c := range r.claims {
		all = append(all, c.Claim)
	}
	return all
}

// Set sets the hosts to announce, and this host's addresses on the link. A host that keeps its
// names announces new addresses without another probe (RFC 6762 8.4).
func (r *Responder) Set(now time.Time, link wire.Link, hosts []wire.Host) {
	r.link = link
	var kept []*claim
	for _, h := range hosts {
		c := &claim{Claim: Claim{Name: h.Name}, host: h, records: records(h, false)}
		c.begin(Probing, now.Add(r.jitter(0, betweenProbes)))
		if i := slices.IndexFunc(r.claims, c.sameNames); i >= 0 {
			c = r.claims[i]
			r.claims = slices.Delete(r.claims, i, i+1)
			r.replace(now, c, h)
		}
		kept = append(kept, c)
	}
	for _, gone := range r.claims { // others may know it even from an earlier responder
		if gone.State != Lost {
			r.goodbye(now, gone.records)
		}
	}
	r.claims = kept
}

// sameNames reports whether a new claim is for the same names as an existing one.
func (c *claim) sameNames(other *claim) bool {
	return other.host.Cluster == c.host.Cluster &&
		slices.Equal(probedNames(records(other.host, false)), probedNames(c.records))
}

// Again repeats announcements and goodbyes for hosts that could not receive them: when another
// address family works again, they may remember a former name from it.
func (r *Responder) Again(now time.Time) {
	r.gone = slices.DeleteFunc(r.gone, func(o *owned) bool {
		return !o.last.Add(o.ttl()).After(now) ||
			slices.ContainsFunc(r.claims, func(c *claim) bool {
				return find(c.records, o.rr) != nil
			})
	})
	r.sendGoodbyes(r.gone)
	for _, c := range r.claims {
		if c.answers() {
			c.begin(Announcing, now)
		}
	}
}

// replace sets what a claim announces. A record that stays keeps its times.
func (r *Responder) replace(now time.Time, c *claim, h wire.Host) {
	fresh := records(h, c.Within)
	former := slices.Clone(c.records)
	gone := slices.DeleteFunc(former, func(o *owned) bool { return find(fresh, o.rr) != nil })
	if len(gone) == 0 && len(c.records) == len(fresh) {
		return
	}
	for i, o := range fresh {
		fresh[i] = cmp.Or(find(c.records, o.rr), o)
	}
	if c.Name, c.host, c.records = h.Name, h, fresh; c.answers() {
		r.goodbye(now, gone)
		c.begin(Announcing, now)
	}
}

// goodbye announces that records are no longer true. It flushes nothing: another host may have the
// name by now.
func (r *Responder) goodbye(now time.Time, gone []*owned) {
	for _, o := range gone {
		o.last = now
	}
	r.gone = append(r.gone, gone...)
	r.gone = r.gone[max(0, len(r.gone)-mostGone):]
	r.sendGoodbyes(gone)
}

// sendGoodbyes queues goodbyes. The directory of service types stays true of other hosts.
func (r *Responder) sendGoodbyes(gone []*owned) {
	var rrs []dns.RR
	for _, o := range gone {
		if o.kind() != dns.TypeNSEC && o.name() != wire.Directory {
			rrs = add(rrs, o, 0, false)
		}
	}
	r.ready = append(r.ready, wire.ToGroups(wire.Responses(rrs, nil))...)
}

// Leave returns the goodbyes for everything that was announced (RFC 6762 10.1).
func (r *Responder) Leave() []wire.Outgoing {
	for _, c := range r.claims {
		if c.State != Lost {
			r.sendGoodbyes(c.records)
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

// Next is the latest time for the next Tick; ok is false if only a packet can change anything.
func (r *Responder) Next() (at time.Time, ok bool) {
	for _, c := range r.claims {
		at = wire.Sooner(at, c.at)
		for _, o := range c.records {
			at = wire.Sooner(at, o.due)
		}
	}
	for _, q := range r.deferred {
		at = wire.Sooner(at, q.due)
	}
	return at, !at.IsZero()
}

// Tick returns the packets to send now. Call it after each packet, and at the time of Next.
func (r *Responder) Tick(now time.Time) []wire.Outgoing {
	for from, q := range r.deferred { // whose further packets have not arrived in time
		if !q.due.After(now) {
			delete(r.deferred, from)
			r.answer(now, q)
		}
	}
	for _, c := range r.claims {
		if !c.at.IsZero() && !c.at.After(now) {
			r.step(now, c)
		}
	}
	r.announceDue(now)
	return r.take()
}

// step advances a claim by one probe or announcement.
func (r *Responder) step(now time.Time, c *claim) {
	if c.State == Lost {
		c.begin(Probing, now)
	}
	c.sent++
	if c.State == Probing && c.sent <= probes {
		r.ready = append(r.ready, wire.ToGroups(wire.Pack(nil, probe(c)))...)
		c.at = now.Add(betweenProbes)
		return
	}
	if c.State == Probing {
		c.State, c.sent = Announcing, 1
		if !c.Within {
			c.Rival = netip.Addr{}
		}
	}
	for _, o := range c.records {
		if o.kind() != dns.TypeNSEC {
			o.due = now
		}
	}
	if c.at = now.Add(betweenSame); c.sent == announcements {
		c.State, c.at = Established, time.Time{}
	}
}

// probe asks for all records of the claim's names, and contains the proposed ones. It requests
// multicast answers: if another program of this machine has the port too, the kernel delivers a
// unicast packet to only one of them (RFC 6762 15.1).
func probe(c *claim) *dns.Msg {
	m := &dns.Msg{Compress: true}
	for _, name := range probedNames(c.records) {
		q := dns.Question{Name: name, Qtype: dns.TypeANY, Qclass: dns.ClassINET}
		for _, rr := range c.unique(name) {
			q.Name = rr.Header().Name // as it is written
			m.Ns = append(m.Ns, rr)
		}
		m.Question = append(m.Question, q)
	}
	return m
}
