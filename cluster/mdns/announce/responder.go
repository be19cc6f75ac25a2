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

// Claim is the state of a host's names.
type Claim struct {
	Name   record.Name
	State  State
	Rival  netip.Addr // the host that has the name, if it is lost or Within
	Within bool       // the host has its other name, below the cluster's
}

// claim is a host that is announced.
type claim struct {
	host    Host
	within  bool // it uses its other name
	records []*owned
	state   State
	sent    int       // probes or announcements of this state
	at      time.Time // of the next step; zero for none
	rival   netip.Addr
	contest time.Time // the last conflict
}

// answers reports whether the claim's records may be announced.
func (c *claim) answers() bool { return c.state == Announcing || c.state == Established }

// probed reports whether a name must be this host's alone.
func (c *claim) probed(name string) bool { return len(c.nsec(name)) > 0 }

// nsec is the NSEC record of a name, which lists the types that exist.
func (c *claim) nsec(name string) (found []*owned) {
	for _, o := range c.records {
		if o.rr.Header().Rrtype == dns.TypeNSEC && o.name() == name {
			found = append(found, o)
		}
	}
	return found
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

// probedNames are the names that are probed for.
func probedNames(records []*owned) (all []string) {
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
	ready    []wire.Outgoing // to be sent at the next Tick
	gone     []departed
	quota    wire.Quota
}

// departed is a record with a goodbye, which hosts that missed it may remember until a time.
type departed struct {
	record *owned
	until  time.Time
}

// New makes a Responder that announces nothing yet.
func New(link wire.Link, jitter wire.Jitter) *Responder {
	return &Responder{link: link, jitter: jitter, deferred: map[netip.AddrPort]*query{}}
}

// Claims are the states of the hosts.
func (r *Responder) Claims() (all []Claim) {
	for _, c := range r.claims {
		all = append(all, Claim{Name: c.host.Name, State: c.state, Rival: c.rival, Within: c.within})
	}
	return all
}

// Set sets the hosts to announce, and this host's addresses on the link. A host that keeps its names
// announces new addresses without another probe (RFC 6762 8.4).
func (r *Responder) Set(now time.Time, link wire.Link, hosts []Host) {
	r.link = link
	var kept []*claim
	for _, h := range hosts {
		fresh := &claim{host: h, records: records(h, false), state: Probing, at: now.Add(r.jitter(0, betweenProbes))}
		i := slices.IndexFunc(r.claims, func(c *claim) bool {
			return c.host.Cluster == h.Cluster && slices.Equal(probedNames(records(c.host, false)), probedNames(fresh.records))
		})
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
	for _, gone := range r.claims { // others may know it even from an earlier responder
		r.goodbye(now, gone.records, gone.state != Lost)
	}
	r.claims = kept
}

// Again repeats announcements and goodbyes for hosts that could not receive them: when another
// address family works again, they may remember a former name from it.
func (r *Responder) Again(now time.Time) {
	r.gone = slices.DeleteFunc(r.gone, func(f departed) bool { return !f.until.After(now) || r.has(f.record) })
	var gone []*owned
	for _, f := range r.gone {
		gone = append(gone, f.record)
	}
	r.sendGoodbyes(gone)
	for _, c := range r.claims {
		if c.answers() {
			c.state, c.sent, c.at = Announcing, 0, now
		}
	}
}

// has reports whether a claim has a record.
func (r *Responder) has(o *owned) bool {
	return slices.ContainsFunc(r.claims, func(c *claim) bool {
		return slices.ContainsFunc(c.records, func(own *owned) bool { return dns.IsDuplicate(own.rr, o.rr) })
	})
}

// replace sets a claim's records.
func (r *Responder) replace(now time.Time, c, fresh *claim) {
	var gone []*owned
	for _, o := range c.records {
		i := slices.IndexFunc(fresh.records, func(f *owned) bool { return dns.IsDuplicate(f.rr, o.rr) })
		if i < 0 {
			gone = append(gone, o)
		} else {
			fresh.records[i] = o
		}
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

// goodbye announces that records are no longer true, if others may know them. It flushes nothing:
// another host may have the name by now.
func (r *Responder) goodbye(now time.Time, gone []*owned, known bool) {
	if !known {
		return
	}
	for _, o := range gone {
		r.gone = append(r.gone, departed{o, now.Add(time.Duration(o.rr.Header().Ttl) * time.Second)})
	}
	r.gone = r.gone[max(0, len(r.gone)-mostGone):]
	r.sendGoodbyes(gone)
}

// sendGoodbyes queues goodbyes. The directory of service types stays true of other hosts.
func (r *Responder) sendGoodbyes(gone []*owned) {
	var rrs []dns.RR
	for _, o := range gone {
		if o.rr.Header().Rrtype != dns.TypeNSEC && o.name() != directory {
			rrs = append(rrs, inPacket(o, 0, false))
		}
	}
	r.ready = append(r.ready, wire.ToGroups(wire.Responses(rrs, nil))...)
}

// Leave returns the goodbyes for everything that was announced (RFC 6762 10.1).
func (r *Responder) Leave() []wire.Outgoing {
	for _, c := range r.claims {
		if c.state != Lost {
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

// Tick returns the packets to send now. Call it after each packet, and at the time of Next.
func (r *Responder) Tick(now time.Time) []wire.Outgoing {
	r.answerDeferred(now)
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

// probe asks for all records of the claim's names, and contains the proposed ones. It requests
// multicast answers: if another program of this machine has the port too, the kernel delivers a
// unicast packet to only one of them (RFC 6762 15.1).
func probe(c *claim) *dns.Msg {
	m := &dns.Msg{Compress: true}
	for _, name := range probedNames(c.records) {
		written := name
		for _, o := range c.unique(name) {
			written = o.rr.Header().Name
			m.Ns = append(m.Ns, inPacket(o, o.rr.Header().Ttl, false))
		}
		m.Question = append(m.Question, dns.Question{Name: written, Qtype: dns.TypeANY, Qclass: dns.ClassINET})
	}
	return m
}
