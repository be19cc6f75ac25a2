package announce

import (
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
)

// checkConflicts handles another host's records of our names (RFC 6762 8.1, 9 and 6.6).
func (r *Responder) checkConflicts(now time.Time, from netip.Addr, answers []wire.Record) {
	for _, h := range answers {
		ttl := time.Duration(h.Header().Ttl) * time.Second
		for _, c := range r.claims {
			switch same := find(c.records, h.RR); {
			case same != nil && same.shared:
				// Another host has just announced it (RFC 6762 7.4): of hundreds of hosts with a
				// service of one type, one announces the type.
				if c.State == Established && !same.due.IsZero() && ttl >= same.ttl() {
					same.last, same.due = now, time.Time{}
				}
			case c.nsec(wire.Key(h.Header().Name)) == nil: // none of our names
			case same != nil:
				// The other host sent a goodbye for it, or lets it expire soon.
				if c.answers() && ttl < same.ttl()/2 {
					same.schedule(now, betweenSame)
				}
			case ttl == 0: // a goodbye
			case c.State == Probing && c.sent > 0:
				c.lose(now, from)
			case c.answers() && clashes(c, h):
				r.probeAgain(now, c, from)
			}
		}
	}
}

// clashes reports whether a record contradicts the claim. An address of the other family does too:
// a name belongs to one host.
func clashes(c *claim, h wire.Record) bool {
	address := func(t uint16) bool { return t == dns.TypeA || t == dns.TypeAAAA }
	return slices.ContainsFunc(c.unique(wire.Key(h.Header().Name)), func(rr dns.RR) bool {
		ours, theirs := rr.Header().Rrtype, h.Header().Rrtype
		return ours == theirs || address(ours) && address(theirs)
	})
}

// lose leaves the name to the host that has it. The cluster knows a host by its name, so the only
// other name is the same one below the cluster's: the claim probes for it at once. If both are lost
// it retries both later. Its services are lost too: they would lead to the other host.
func (c *claim) lose(now time.Time, rival netip.Addr) {
	c.begin(Lost, now.Add(afterLoss))
	c.Rival = rival
	if c.host.Cluster != "" {
		if c.Within = !c.Within; c.Within {
			c.at = now.Add(betweenProbes)
		}
		c.records = records(c.host, c.Within)
	}
	c.cancel()
}

// probeAgain probes for a name that another host contradicts; its owner defends it. Soon after a
// former conflict it gives the name up for a while: otherwise this host would probe without end.
func (r *Responder) probeAgain(now time.Time, c *claim, rival netip.Addr) {
	if now.Sub(c.contest) < calm && !c.contest.IsZero() {
		unique := func(o *owned) bool { return !o.shared }
		r.goodbye(now, slices.DeleteFunc(slices.Clone(c.records), unique))
		c.lose(now, rival)
	} else {
		c.begin(Probing, now)
		c.cancel()
	}
	c.contest = now
}

// cancel cancels the multicasts that are due.
func (c *claim) cancel() {
	for _, o := range c.records {
		o.due = time.Time{}
	}
}

// breakTies decides between two hosts that probe for one name at the same time (RFC 6762 8.2).
func (r *Responder) breakTies(now time.Time, authority []dns.RR) {
	for _, c := range r.claims {
		if c.State != Probing {
			continue
		}
		for _, name := range probedNames(c.records) {
			another := func(rr dns.RR) bool { return wire.Key(rr.Header().Name) != name }
			theirs := slices.DeleteFunc(slices.Clone(authority), another)
			if len(theirs) > 0 && wire.Compare(c.unique(name), theirs) < 0 {
				c.sent, c.at = 0, now.Add(afterTie)
			}
		}
	}
}
