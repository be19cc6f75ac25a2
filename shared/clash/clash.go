// Package clash finds in the adverts that come by a link who disturbs a cluster's virtual routers:
// another router with one of their IDs, a second holder, one who announces itself otherwise than
// agreed, another host that answers for a VIP. It knows no clock and no socket.
package clash

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

const (
	// Hearing is how long to listen before an instance starts for the first time: in it a router
	// that announces itself once a second, as all do that were told nothing else, is heard three
	// times. Slower ones are heard later.
	Hearing = 3500 * time.Millisecond
	// enough is how many adverts in a row, or looks, tell something that lasts from something that
	// is changing.
	enough = 3
	// remembered is the least time for which a router that has gone quiet is still spoken of.
	remembered = time.Minute
	// mostSpeakers bounds what is remembered of one virtual router on one link, whoever says what.
	mostSpeakers = 16
	// mostOthers is the same of a virtual router in which this host takes no part: that it is there
	// is all that anybody asks.
	mostOthers = 2
	// mostVIPs is how many addresses of an advert are remembered: whoever announces more is no
	// cluster of ours, which announces one.
	mostVIPs = 32
)

// Instance is a virtual router of the cluster in which this host takes part, or will.
type Instance struct {
	Name     vrrp.InstanceName
	Kind     vrrp.Kind
	Link     string
	ID       vrrp.ID
	Version  vrrp.Version
	Interval time.Duration // between two adverts
	VIP      netip.Addr
	Unicast  bool
	Near     bool         // the VIP is in a network of the link: who answers for it can be asked
	Own      netip.Addr   // this host's address in the election
	Members  []netip.Addr // of all that may hold the VIP; nil while nobody knows them, and then nobody is a stranger
}

// Heard is an advert that came by a link from another host.
type Heard struct {
	Link   string
	MAC    string // of the sender
	At     time.Time
	Advert advert.Advert
}

// router tells virtual routers apart: one ID means two of them on two links, and in two families
// (RFC 5798 1.4).
type router struct {
	link string
	four bool
	id   vrrp.ID
}

// speaker is a host that announces a virtual router.
type speaker struct {
	mac         string
	said        advert.Advert // last
	since, last time.Time     // of the adverts in a row that say the same but for their priority
	count       int
	jitter      time.Duration
}

// smooth is the share of a new deviation in the mean one, as in RTP (RFC 3550 6.4.1).
const smooth = 16

// heard takes the next advert's time in.
func (s *speaker) heard(at time.Time) {
	if off := at.Sub(s.last) - s.said.Interval; s.count > 0 {
		s.jitter += (off.Abs() - s.jitter) / smooth
	}
	s.last = at
	s.count++
}

// lapse is how long a speaker may be silent while it is still the holder: whoever hears it waits as
// long.
func (s *speaker) lapse() time.Duration {
	every := s.said.Interval
	if every <= 0 {
		every = time.Second
	}
	return 3*every + every*time.Duration(256-int(s.said.Priority))/256
}

func (s *speaker) holds(now time.Time) bool {
	return s.said.Priority != advert.Farewell && now.Sub(s.last) <= s.lapse()
}

func (s *speaker) remembered(now time.Time) bool {
	return now.Sub(s.last) <= max(remembered, s.lapse())
}

// own is what this host does for an instance.
type own struct {
	since    time.Time // when it began to hold the VIP; zero while it does not
	priority vrrp.Priority
}

// answer is who answers for a VIP on a link, by ARP or neighbour discovery.
type answer struct {
	mac string
	at  []time.Time // of the last looks in a row that said so, no more than enough
}

func (a answer) last() time.Time {
	if len(a.at) == 0 {
		return time.Time{}
	}
	return a.at[len(a.at)-1]
}

type asked struct {
	link string
	vip  netip.Addr
}

// Ear is what one host has heard. Its methods are for one goroutine.
type Ear struct {
	instances []Instance
	ids       map[vrrp.Kind]vrrp.ID
	speakers  map[router]map[netip.Addr]*speaker
	own       map[vrrp.InstanceName]own
	answers   map[asked]answer
}

// NewEar has heard nothing.
func NewEar() *Ear {
	return &Ear{speakers: map[router]map[netip.Addr]*speaker{}, own: map[vrrp.InstanceName]own{}, answers: map[asked]answer{}}
}

// Expect says which instances there are. What was heard before counts for new ones as well. But of
// one that speaks otherwise from now on, as when a cluster's timing changes, the members are heard
// anew: they change in the same moment, and what they said before was right. So is one that is a
// member no more, as the bootstrap machine when it has left: what it said before that was a
// member's word.
func (e *Ear) Expect(instances []Instance) {
	for _, i := range instances {
		if slices.ContainsFunc(e.instances, func(o Instance) bool { return o.Name == i.Name && (o.Version != i.Version || o.Interval != i.Interval) }) {
			for _, s := range e.speakers[i.router()] {
				s.count = 0
			}
		}
		e.part(i)
	}
	e.instances = slices.Clone(instances)
	maps.DeleteFunc(e.own, func(name vrrp.InstanceName, _ own) bool {
		return !slices.ContainsFunc(instances, func(i Instance) bool { return i.Name == name })
	})
}

// part has those be heard anew who were members of an instance until now.
func (e *Ear) part(i Instance) {
	at := slices.IndexFunc(e.instances, func(o Instance) bool { return o.Name == i.Name })
	if at < 0 || i.Members == nil {
		return
	}
	was := e.instances[at].Members
	for from, s := range e.speakers[i.router()] {
		if (was == nil || slices.Contains(was, from)) && !slices.Contains(i.Members, from) {
			s.count = 0
		}
	}
}

// Have says which IDs the cluster has, of elections too in which this host takes no part: with a
// foreign router goes an ID that is free.
func (e *Ear) Have(ids map[vrrp.Kind]vrrp.ID) { e.ids = ids }

// Hear takes an advert in, unless no router heeds it.
func (e *Ear) Hear(h Heard) {
	a := h.Advert
	at := router{h.Link, a.From.Is4(), a.ID}
	if !a.Heeded(slices.ContainsFunc(e.instances, func(i Instance) bool {
		return i.router() == at && vrrp.HopLimited(i.VIP, i.Interval)
	})) {
		return
	}
	a.VIPs = a.VIPs[:min(len(a.VIPs), mostVIPs)]
	all := e.speakers[at]
	if all == nil {
		all = map[netip.Addr]*speaker{}
		e.speakers[at] = all
	}
	s := all[a.From]
	if s == nil {
		most := mostOthers
		if slices.ContainsFunc(e.instances, func(i Instance) bool { return i.router() == at }) {
			most = mostSpeakers
		}
		if len(all) >= most {
			delete(all, e.quietest(at))
		}
		s = &speaker{}
		all[a.From] = s
	}
	if s.count == 0 || !s.holds(h.At) || s.mac != h.MAC || !same(s.said, a) {
		s.since, s.count, s.jitter = h.At, 0, 0
	}
	s.heard(h.At)
	s.mac, s.said = h.MAC, a
	s.said.VIPs = slices.Clone(a.VIPs)
}

// same says whether two adverts of a host differ in nothing but the priority, and whether they are
// farewells.
func same(a, b advert.Advert) bool {
	return a.Version == b.Version && a.Interval == b.Interval && (a.Priority == advert.Farewell) == (b.Priority == advert.Farewell) && slices.Equal(a.VIPs, b.VIPs)
}

// member says whether an address is of one that may hold a VIP of a virtual router.
func (e *Ear) member(at router, from netip.Addr) bool {
	return slices.ContainsFunc(e.instances, func(i Instance) bool { return i.router() == at && slices.Contains(i.Members, from) })
}

// quietest is who was heard the longest time ago; a member of the cluster only where there is
// nobody else.
func (e *Ear) quietest(at router) (out netip.Addr) {
	all, ours := e.speakers[at], false
	for from, s := range all {
		member := e.member(at, from)
		if !out.IsValid() || ours && !member || ours == member && cmp.Or(s.last.Compare(all[out].last), from.Compare(out)) < 0 {
			out, ours = from, member
		}
	}
	return out
}

// Self says whether this host holds an instance's VIP, and the priority that it has.
func (e *Ear) Self(name vrrp.InstanceName, holds bool, priority vrrp.Priority, now time.Time) {
	before := e.own[name]
	switch {
	case !holds:
		before.since = time.Time{}
	case before.since.IsZero():
		before.since = now
	}
	before.priority = priority
	e.own[name] = before
}

// Answer says which other host answers for a VIP on a link.
func (e *Ear) Answer(link string, vip netip.Addr, mac string, now time.Time) {
	at := asked{link, vip}
	a := e.answers[at]
	if a.mac != mac || now.Sub(a.last()) > remembered {
		a.at = nil
	}
	e.answers[at] = answer{mac: mac, at: append(a.at[max(0, len(a.at)-enough+1):], now)}
}

// Speakers are the last adverts of all who announce an instance's VIP, by their addresses. Only
// holders speak: of the others nothing is heard.
func (e *Ear) Speakers(i Instance) (out []Heard) {
	all := e.speakers[i.router()]
	for _, from := range senders(all) {
		if s := all[from]; slices.Contains(s.said.VIPs, i.VIP) {
			out = append(out, Heard{Link: i.Link, MAC: s.mac, At: s.last, Advert: s.said})
		}
	}
	return out
}

func (i Instance) router() router { return router{i.Link, i.VIP.Is4(), i.ID} }
