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
		name := wire.Key(h.Header().Name)
		for _, c := range r.claims {
			c.suppressDuplicate(now, h)
			if !c.probed(name) {
				continue
			}
			same := slices.IndexFunc(c.records, func(o *owned) bool { return dns.IsDuplicate(o.rr, h.RR) })
			switch {
			case same >= 0:
				r.refresh(now, c, c.records[same], h)
			case h.Header().Ttl == 0: // a goodbye
			case c.state == Probing && c.sent > 0:
				c.lose(now, from)
			case c.answers() && clashes(c, h):
				r.probeAgain(now, c, from)
			}
		}
	}
}

// suppressDuplicate cancels a shared record that another host has just announced (RFC 6762 7.4): of
// hundreds of hosts with a service of one type, one announces the type.
func (c *claim) suppressDuplicate(now time.Time, h wire.Record) {
	for _, o := range c.records {
		if o.shared && !o.due.IsZero() && h.Header().Ttl >= o.rr.Header().Ttl && dns.IsDuplicate(o.rr, h.RR) && c.state == Established {
			o.last, o.due = now, time.Time{}
		}
	}
}

// refresh announces a record again if a host with the same one sent a goodbye for it, or lets it
// expire soon.
func (r *Responder) refresh(now time.Time, c *claim, o *owned, h wire.Record) {
	if c.answers() && h.Header().Ttl < o.rr.Header().Ttl/2 {
		o.schedule(now, betweenSame)
	}
}

// clashes reports whether a record contradicts the claim. An address of the other family does too:
// a name belongs to one host.
func clashes(c *claim, h wire.Record) bool {
	address := func(t uint16) bool { return t == dns.TypeA || t == dns.TypeAAAA }
	return slices.ContainsFunc(c.unique(wire.Key(h.Header().Name)), func(o *owned) bool {
		ours, theirs := o.rr.Header().Rrtype, h.Header().Rrtype
		return ours == theirs || address(ours) && address(theirs)
	})
}

// lose leaves the name to the host that has it. The cluster knows a host by its name, so the only
// other name is the same one below the cluster's: the claim probes for it at once. If both are lost
// it retries both later. Its services are lost too: they would lead to the other host.
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

// probeAgain probes for a name that another host contradicts; its owner defends it. Soon after a
// former conflict it gives the name up for a while: otherwise this host would probe without end.
func (r *Responder) probeAgain(now time.Time, c *claim, rival netip.Addr) {
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

// breakTies decides between two hosts that probe for one name at the same time (RFC 6762 8.2).
func (r *Responder) breakTies(now time.Time, authority []dns.RR) {
	for _, c := range r.claims {
		if c.state != Probing {
			continue
		}
		for _, name := range probedNames(c.records) {
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
