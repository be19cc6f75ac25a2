package announce

import (
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
)

// contested looks for what another host says of our names in a response (RFC 6762 8.1, 9 and 6.6).
// Our own word that comes back, also of a former run or by another program of this machine, was
// sorted out before.
func (r *Responder) contested(now time.Time, from netip.Addr, answers []wire.Record) {
	for _, h := range answers {
		name := wire.Key(h.Header().Name)
		for _, c := range r.claims {
			c.spare(now, h)
			if !c.probed(name) {
				continue
			}
			same := slices.IndexFunc(c.records, func(o *owned) bool { return dns.IsDuplicate(o.rr, h.RR) })
			switch {
			case same >= 0:
				r.rescue(now, c, c.records[same], h)
			case h.Header().Ttl == 0: // it is going
			case c.state == Probing && c.sent > 0:
				c.lose(now, from)
			case c.answers() && clashes(c, h):
				r.doubt(now, c, from)
			}
		}
	}
}

// spare leaves unsaid what another host has just said in the same words (RFC 6762 7.4): of hundreds
// that have a service of one type, one says so.
func (c *claim) spare(now time.Time, h wire.Record) {
	for _, o := range c.records {
		if o.shared && !o.due.IsZero() && h.Header().Ttl >= o.rr.Header().Ttl && dns.IsDuplicate(o.rr, h.RR) && c.state == Established {
			o.last, o.due = now, time.Time{}
		}
	}
}

// rescue says again what another host, of the same records, has said goodbye to or is about to let
// expire.
func (r *Responder) rescue(now time.Time, c *claim, o *owned, h wire.Record) {
	if c.answers() && h.Header().Ttl < o.rr.Header().Ttl/2 {
		o.schedule(now, betweenSame)
	}
}

// clashes says whether a record contradicts the claim. An address of the other family does: the
// name is one host's.
func clashes(c *claim, h wire.Record) bool {
	address := func(t uint16) bool { return t == dns.TypeA || t == dns.TypeAAAA }
	return slices.ContainsFunc(c.unique(wire.Key(h.Header().Name)), func(o *owned) bool {
		ours, theirs := o.rr.Header().Rrtype, h.Header().Rrtype
		return ours == theirs || address(ours) && address(theirs)
	})
}

// lose gives way to the host that has the name. A host's name is what the cluster knows it by, so
// it takes no other but the same one below the cluster's, at once; where it has that not either, it
// tries both again later. The services stand and fall with it: they would lead to the other host.
func (c *claim) lose(now time.Time, rival netip.Addr) {
	c.state, c.sent, c.at, c.rival = Lost, 0, now.Add(afterLoss), rival
	if c.host.Cluster != "" {
		if c.within = !c.within; c.within {
			c.at = now.Add(betweenProbes)
		}
		c.records = records(c.host, c.within)
	}
	for _, o := range c.records {
		o.due = time.Time{}
	}
}

// doubt asks again whose the name is, when another host says something else of it than what was
// announced. The one that has it defends it. Where that has just been asked, it waits: somebody who
// always contradicts must not make this host ask without end.
func (r *Responder) doubt(now time.Time, c *claim, rival netip.Addr) {
	if wait := now.Sub(c.contest) < calm && !c.contest.IsZero(); wait {
		r.goodbye(now, slices.DeleteFunc(slices.Clone(c.records), func(o *owned) bool { return !o.shared }), true)
		c.lose(now, rival)
	} else {
		c.state, c.sent, c.at = Probing, 0, now
	}
	c.contest = now
	for _, o := range c.records {
		o.due = time.Time{}
	}
}

// ties settles who of two that ask for one name at the same time has it (RFC 6762 8.2).
func (r *Responder) ties(now time.Time, authority []dns.RR) {
	for _, c := range r.claims {
		if c.state != Probing {
			continue
		}
		for _, name := range c.names() {
			var ours, theirs []dns.RR
			for _, rr := range authority {
				if wire.Key(rr.Header().Name) == name {
					theirs = append(theirs, rr)
				}
			}
			for _, o := range c.unique(name) {
				ours = append(ours, o.rr)
			}
			if len(theirs) > 0 && wire.Compare(ours, theirs) < 0 {
				c.sent, c.at = 0, now.Add(afterTie)
			}
		}
	}
}
