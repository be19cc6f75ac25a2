// Package browse is a multicast DNS querier with a cache of a cluster's hosts on a link, without
// sockets and without a clock.
package browse

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
)

const (
	firstWait = time.Second // between two questions; each wait is twice the one before
	longest   = time.Hour
	mostTTL   = 4500 * time.Second // a longer TTL is cut to this
	// mostRecords bounds the records of all hosts, mostOfOne those of one source.
	mostRecords = 8192
	mostOfOne   = 64
)

// Wish is what a Browser asks for.
type Wish struct {
	Types []wire.Type
	// Cluster is how the services' instances begin, as "ostest" of "ostest Workstation"; empty for
	// all hosts on the link.
	Cluster string
	// Networks contain every address that is accepted; none for any.
	Networks []netip.Prefix
}

// matches reports whether an instance is the cluster's: it is called by the cluster's name or stem.
// A longer word that begins with the cluster's name is another cluster's.
func (w Wish) matches(instance string) bool {
	return w.Cluster == "" || begins(instance, w.Cluster) ||
		begins(instance, wire.Stem(w.Cluster))
}

// begins reports whether the first words of an instance are these, in any case.
func begins(instance, words string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(instance), strings.ToLower(words))
	return ok && (rest == "" || rest[0] == ' ')
}

// kind is the type of service that a name is an instance of; empty for another type or cluster.
func (w Wish) kind(name string) wire.Type {
	for _, t := range w.Types {
		suffix := "." + string(t) + "." + wire.Domain
		if strings.HasSuffix(wire.Key(name), suffix) && w.matches(wire.FirstLabel(name)) {
			return t
		}
	}
	return ""
}

// accepts reports whether an address may be a host's.
func (w Wish) accepts(a netip.Addr) bool {
	contains := func(p netip.Prefix) bool { return p.Contains(a) }
	return a.IsGlobalUnicast() && !a.Is4In6() &&
		(len(w.Networks) == 0 || slices.ContainsFunc(w.Networks, contains))
}

// topic is what a question is about.
type topic struct {
	name string // as wire.Key gives it
	kind uint16
}

func topicOf(rr dns.RR) topic { return topic{wire.Key(rr.Header().Name), rr.Header().Rrtype} }

// fact is one cached record.
type fact struct {
	rr      dns.RR
	from    netip.Addr
	born    time.Time
	expires time.Time
	asked   int           // how often it was asked for again (RFC 6762 5.2)
	late    time.Duration // random, so that not all hosts ask at once
}

// life is the TTL.
func (f *fact) life() time.Duration { return time.Duration(f.rr.Header().Ttl) * time.Second }

// target is the host of a service.
func (f *fact) target() string { return wire.Key(f.rr.(*dns.SRV).Target) }

// renewal is when to ask for the record again; zero after enough trials, or if it expires early.
func (f *fact) renewal() time.Time {
	if f.asked > 3 || f.expires.Before(f.born.Add(f.life())) {
		return time.Time{}
	}
	return f.born.Add(f.life()*time.Duration(80+5*f.asked)/100 + f.late)
}

// question is one that is asked until a host answers, or forever.
type question struct {
	name string // as in the query
	at   time.Time
	wait time.Duration
}

// Browser caches the hosts of a cluster that announce themselves on a link. It receives their
// announcements, and asks for records that are missing or expire soon. It is for one goroutine.
type Browser struct {
	link      wire.Link
	wish      Wish
	jitter    wire.Jitter
	facts     map[topic][]*fact
	sources   map[netip.Addr]int
	total     int
	questions map[topic]*question
}

// New makes a Browser with an empty cache.
func New(link wire.Link, wish Wish, jitter wire.Jitter) *Browser {
	return &Browser{
		link: link, wish: wish, jitter: jitter, facts: map[topic][]*fact{},
		sources: map[netip.Addr]int{}, questions: map[topic]*question{},
	}
}

// Move sets this host's addresses on the link. What is known stays: another address, such as a VIP
// that comes or goes, is no other link.
func (b *Browser) Move(link wire.Link) { b.link = link }

// Receive handles a packet. It accepts only multicast responses from hosts on the link. Call Tick
// after it.
func (b *Browser) Receive(now time.Time, p wire.Packet) {
	if !p.Multicast || p.From.Port() != wire.Port || !b.link.Near(p.From.Addr()) {
		return
	}
	m, ok := wire.Parse(p.Data)
	if !ok || !m.Response {
		return
	}
	// An address is accepted if a service is at its name, whose record may come after it.
	for _, addresses := range []bool{false, true} {
		var news []wire.Record
		for _, h := range m.Answers {
			address := h.Header().Rrtype == dns.TypeA || h.Header().Rrtype == dns.TypeAAAA
			if address == addresses && b.concerns(h.RR) {
				news = append(news, h)
			}
		}
		b.flush(now, news)
		for _, h := range news {
			b.learn(now, p.From.Addr(), h.RR)
		}
	}
}

// concerns reports whether to cache a record.
func (b *Browser) concerns(rr dns.RR) bool {
	switch rr := rr.(type) {
	case *dns.PTR:
		kind := b.wish.kind(rr.Ptr)
		return kind != "" && wire.Key(rr.Hdr.Name) == string(kind)+"."+wire.Domain
	case *dns.SRV:
		return b.wish.kind(rr.Hdr.Name) != "" && b.wish.local(rr.Target)
	case *dns.A, *dns.AAAA:
		return b.targeted(rr.Header().Name) && b.wish.accepts(addressOf(rr))
	}
	return false
}

// local reports whether a name is LABEL.local, or LABEL.CLUSTER.local, the name of a host that
// shares its label with a host of another cluster.
func (w Wish) local(name string) bool {
	if dns.CountLabel(name) == 3 && w.Cluster != "" {
		return strings.HasSuffix(wire.Key(name), "."+wire.Key(w.Cluster)+"."+wire.Domain)
	}
	return strings.HasSuffix(wire.Key(name), "."+wire.Domain) && dns.CountLabel(name) == 2
}

func addressOf(rr dns.RR) netip.Addr {
	var a netip.Addr
	switch rr := rr.(type) {
	case *dns.A:
		a, _ = netip.AddrFromSlice(rr.A.To4())
	case *dns.AAAA:
		a, _ = netip.AddrFromSlice(rr.AAAA.To16())
	}
	return a
}

// targeted reports whether a known service is at a name.
func (b *Browser) targeted(name string) bool {
	for t, facts := range b.facts {
		if t.kind == dns.TypeSRV && slices.ContainsFunc(facts, func(f *fact) bool {
			return f.target() == wire.Key(name)
		}) {
			return true
		}
	}
	return false
}

// flush lets former records expire in a second if new ones have the cache-flush bit (RFC 6762
// 10.2). Records of the last second stay: they may be from the same announcement.
func (b *Browser) flush(now time.Time, news []wire.Record) {
	for _, h := range news {
		if !h.Flush || h.Header().Ttl == 0 {
			continue
		}
		for _, f := range b.facts[topicOf(h.RR)] {
			if now.Sub(f.born) > time.Second {
				f.expires = wire.Sooner(f.expires, now.Add(time.Second))
			}
		}
	}
}

// learn caches a record, or lets it expire after a goodbye.
func (b *Browser) learn(now time.Time, from netip.Addr, rr dns.RR) {
	t := topicOf(rr)
	i := slices.IndexFunc(b.facts[t], func(f *fact) bool { return dns.IsDuplicate(f.rr, rr) })
	switch {
	case rr.Header().Ttl == 0 && i >= 0:
		b.facts[t][i].expires = wire.Sooner(b.facts[t][i].expires, now.Add(time.Second))
		return
	case rr.Header().Ttl == 0:
		return
	}
	rr.Header().Ttl = min(rr.Header().Ttl, wire.Seconds(mostTTL))
	f := &fact{rr: rr, from: from, born: now}
	f.late = b.jitter(0, f.life()/50+1)
	f.expires = now.Add(f.life())
	switch {
	case i >= 0:
		f.from = b.facts[t][i].from // the source that it counts for
		b.facts[t][i] = f
	case b.total < mostRecords && b.sources[from] < mostOfOne:
		b.facts[t] = append(b.facts[t], f)
		b.total++
		b.sources[from]++
	}
}

// forget drops expired records.
func (b *Browser) forget(now time.Time) {
	for t, facts := range b.facts {
		kept := slices.DeleteFunc(facts, func(f *fact) bool {
			old := !f.expires.After(now)
			if old {
				b.total--
				if b.sources[f.from]--; b.sources[f.from] == 0 {
					delete(b.sources, f.from)
				}
			}
			return old
		})
		if b.facts[t] = kept; len(kept) == 0 {
			delete(b.facts, t)
		}
	}
}

// Found is a host that announces itself.
type Found struct {
	Name      string // its first label, in lower case
	Addresses []netip.Addr
	TTL       time.Duration // the time until one of the addresses expires
}

// Hosts are the hosts with a service and known addresses, sorted.
func (b *Browser) Hosts(now time.Time) []Found {
	byName, targets := map[string]Found{}, map[string]bool{}
	for t, facts := range b.facts {
		if t.kind == dns.TypeSRV {
			for _, f := range facts {
				targets[f.target()] = true
			}
		}
	}
	for t, facts := range b.facts {
		if t.kind != dns.TypeA && t.kind != dns.TypeAAAA || !targets[t.name] {
			continue
		}
		for _, f := range facts {
			if left := f.expires.Sub(now); left > 0 {
				label := wire.Key(wire.FirstLabel(t.name))
				h, known := byName[label]
				if !known || left < h.TTL {
					h.TTL = left
				}
				byName[label] = Found{label, append(h.Addresses, addressOf(f.rr)), h.TTL}
			}
		}
	}
	for _, h := range byName {
		slices.SortFunc(h.Addresses, netip.Addr.Compare)
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b Found) int {
		return cmp.Compare(a.Name, b.Name)
	})
}

// Endpoint is where a service is.
type Endpoint struct {
	Instance string
	Host     string // its first label, in lower case
	Port     uint16
}

// Endpoints are the endpoints of a type of service whose hosts have known addresses, sorted, each
// host and port once.
func (b *Browser) Endpoints(now time.Time, kind wire.Type) (list []Endpoint) {
	for t, facts := range b.facts {
		if t.kind != dns.TypeSRV || b.wish.kind(t.name) != kind {
			continue
		}
		for _, f := range facts {
			if srv := f.rr.(*dns.SRV); f.expires.After(now) && b.addressed(f.target()) {
				list = append(list, Endpoint{
					Instance: wire.FirstLabel(srv.Hdr.Name),
					Host:     wire.Key(wire.FirstLabel(srv.Target)), Port: srv.Port,
				})
			}
		}
	}
	slices.SortFunc(list, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Port, b.Port),
			cmp.Compare(a.Instance, b.Instance))
	})
	return slices.CompactFunc(list, func(a, b Endpoint) bool {
		return a.Host == b.Host && a.Port == b.Port
	})
}

func (b *Browser) addressed(name string) bool {
	return len(b.facts[topic{name, dns.TypeA}])+len(b.facts[topic{name, dns.TypeAAAA}]) > 0
}
