package bootserver

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/bootlog"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/served"
)

// answers are the kinds of messages that a server sends.
var answers = []bootlog.Kind{bootlog.Offer, bootlog.Ack, bootlog.Nak, bootlog.Advertise,
	bootlog.Reply}

// kinds are those of foreign servers.
var kinds = []offer.Kind{offer.DHCP, offer.ProxyDHCP, offer.DHCPv6, offer.Router}

// Seen is what dnsmasq's log and the link show while the server is on. Lines is for one goroutine,
// and Foreign for one; Metrics may be called by any.
type Seen struct {
	names    map[mac.MAC]string
	server   netip.Addr
	expected offer.Expected
	reader   bootlog.Reader
	list     foreign.List

	ignored  atomic.Uint64
	mu       sync.Mutex
	answered map[bootlog.Kind]uint64
	reported map[offer.Kind]uint64
}

// NewSeen begins with former, the list of foreign servers of an earlier run, and nothing else.
func NewSeen(p *provision.Plan, phase provision.Phase, former foreign.List) *Seen {
	s := &Seen{names: map[mac.MAC]string{}, list: former,
		server: served.Server(p, phase), expected: p.Expected(),
		answered: map[bootlog.Kind]uint64{}, reported: map[offer.Kind]uint64{}}
	if other := served.Other(p, phase); other.IsValid() {
		s.expected.Addresses = append(s.expected.Addresses, other)
	}
	for _, h := range p.Hosts {
		s.names[h.MAC] = h.Name
	}
	return s
}

// Lines reads lines of dnsmasq's log, which were written at about a time, and returns what is kept
// of them: what hosts asked for and got. The transfers of this machine's own probes are left out.
func (s *Seen) Lines(at time.Time, lines []string) (all []events.Event) {
	for _, line := range lines {
		e, ok := s.reader.Line(at, line)
		if !ok || e.Address == s.server && e.MAC == (mac.MAC{}) {
			continue
		}
		s.count(e)
		all = append(all, e.Kept(s.names[e.MAC]))
	}
	return all
}

func (s *Seen) count(e bootlog.Event) {
	if e.Ignored() {
		s.ignored.Add(1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kind := range answers {
		if e.Kind == kind {
			s.answered[kind]++
		}
	}
}

// Expected are the servers of the link that the description names, and those that are the
// cluster's: the other phase may have one. This machine's own packets are not received.
func (s *Seen) Expected() offer.Expected { return s.expected }

// Foreign takes in a server that is none of the cluster's. It returns the list that is kept, and
// the server as it is kept if the list did not have it.
func (s *Seen) Foreign(o offer.Server) (list foreign.List, first *foreign.Server) {
	server := foreign.Of(o)
	if s.list.Add(server) {
		first = &server
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reported[o.Kind]++
	return s.list, first
}

// Metrics writes what the metrics are now.
func (s *Seen) Metrics(page *metrics.Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := metrics.DHCPSeen{Answers: map[string]uint64{}, Ignored: s.ignored.Load(),
		Foreign: map[string]uint64{}}
	for _, kind := range answers {
		m.Answers[string(kind)] = s.answered[kind]
	}
	for _, kind := range kinds {
		m.Foreign[string(kind)] = s.reported[kind]
	}
	m.Onto(page)
}
