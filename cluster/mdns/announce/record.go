package announce

import (
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
)

// owned is a record that this host announces.
type owned struct {
	rr dns.RR
	// shared: other hosts may have records of the same name and type. It is not probed for, and
	// flushes none.
	shared bool
	last   time.Time // when it was last multicast, also as a goodbye
	due    time.Time // when to multicast it next; zero for never
}

func (o *owned) name() string       { return wire.Key(o.rr.Header().Name) }
func (o *owned) kind() uint16       { return o.rr.Header().Rrtype }
func (o *owned) ttl() time.Duration { return time.Duration(o.rr.Header().Ttl) * time.Second }

// first is the first record for which a condition holds, or nil.
func first(list []*owned, holds func(*owned) bool) *owned {
	if i := slices.IndexFunc(list, holds); i >= 0 {
		return list[i]
	}
	return nil
}

// find is the record of a list with the same name, type, and data, or nil.
func find(list []*owned, rr dns.RR) *owned {
	return first(list, func(o *owned) bool { return dns.IsDuplicate(o.rr, rr) })
}

// records are the records of a host under one of its names.
func records(h wire.Host, within bool) (all []*owned) {
	unique, shared := h.Records(within)
	for _, rr := range unique {
		all = append(all, &owned{rr: rr})
	}
	for _, rr := range shared {
		all = append(all, &owned{rr: rr, shared: true})
	}
	return all
}

// add appends a record as a packet carries it. Two hosts of this machine may share one.
func add(rrs []dns.RR, o *owned, ttl time.Duration, flush bool) []dns.RR {
	same := func(rr dns.RR) bool { return dns.IsDuplicate(rr, o.rr) }
	if o.shared && slices.ContainsFunc(rrs, same) {
		return rrs
	}
	rr := dns.Copy(o.rr)
	rr.Header().Ttl = wire.Seconds(ttl)
	if flush && !o.shared {
		rr.Header().Class |= wire.TopBit
	}
	return append(rrs, rr)
}
