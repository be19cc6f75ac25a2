package daemons

import (
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/query"
)

// inForce is how long a former upstream may still be asked after a change.
const inForce = 2 * time.Second

// TestForwardSignalled changes the upstream under 500 queries a second, half of them for the
// cluster's own names, and tells CoreDNS each time by SIGUSR1. No query is lost, neither when the
// former upstream lives on nor when it goes at the very moment of the change: then those in flight
// to it need the second upstream, which answers them after the 2 s that CoreDNS waits for the first
// one.
func TestForwardSignalled(t *testing.T) {
	for _, tt := range []struct {
		name    string
		changes int
		every   time.Duration
		spare   bool
		leave   func(t *testing.T, s *station)
		back    func(t *testing.T, s *station)
	}{
		{name: "the former one lives on", changes: 20, every: 250 * time.Millisecond, leave: func(*testing.T, *station) {}, back: func(*testing.T, *station) {}},
		{name: "its program ends", changes: 4, every: time.Second, spare: true, leave: end, back: begin},
		{name: "its host vanishes", changes: 4, every: 3 * time.Second, spare: true, leave: unplug, back: plug},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := lab.New(t)
			stations := []*station{newStation(t, l, 1), newStation(t, l, 2)}
			spare := newStation(t, l, 9)
			text := func(s *station) []byte {
				upstreams := []string{s.address}
				if tt.spare {
					upstreams = append(upstreams, spare.address)
				}
				return corefile.Render(signalled(upstreams...))
			}
			server := serve(t, add(t, l, "node", "198.51.100.10/24"), text(stations[0]))
			load, err := query.Start(spare.host, "198.51.100.10:53", 500, mixed(stations[0].address, stations[1].address, spare.address))
			if err != nil {
				t.Fatal(err)
			}
			changes := []change{}
			for i := range tt.changes {
				time.Sleep(tt.every)
				former, next := stations[i%2], stations[(i+1)%2]
				if i > 0 {
					tt.back(t, next)
				}
				changes = append(changes, change{time.Now(), former.address})
				tt.leave(t, former)
				server.write(text(next))
				server.reload()
			}
			time.Sleep(tt.every)
			outcome, err := load.Stop()
			if err != nil {
				t.Fatal(err)
			}
			unbroken(t, outcome, changes)
		})
	}
}

// signalled is a Corefile as on the bootstrap machine.
func signalled(upstreams ...string) corefile.Config {
	return corefile.Config{Zone: zone, Records: record.Cluster(zone, addresses([]string{"192.0.2.5"}), addresses([]string{"192.0.2.6"})), Upstreams: addresses(upstreams)}
}

// mixed are names of the cluster and names outside in turn. Nobody asks for one of those twice, so
// the cache knows none; the answer tells which upstream gave it.
func mixed(upstreams ...string) func(i int) query.Question {
	return func(i int) query.Question {
		if i%2 == 0 {
			return query.Question{Name: owned, Type: dns.TypeA, Want: []string{"192.0.2.5"}}
		}
		return query.Question{Name: fmt.Sprintf("n%d.forwarded.example.", i), Type: dns.TypeTXT, Want: upstreams}
	}
}

// station is a host with a name server.
type station struct {
	host    *lab.Host
	address string
	server  *upstream
}

func newStation(t *testing.T, l *lab.Lab, last int) *station {
	s := &station{address: fmt.Sprintf("198.51.100.%d", last)}
	s.host = add(t, l, fmt.Sprintf("upstream%d", last), s.address+"/24")
	begin(t, s)
	return s
}

func begin(t *testing.T, s *station)  { s.server = serveDNS(t, s.host, s.address, s.address+":53") }
func end(_ *testing.T, s *station)    { s.server.stop() }
func plug(t *testing.T, s *station)   { link(t, s, "up") }
func unplug(t *testing.T, s *station) { link(t, s, "down") }

func link(t *testing.T, s *station, state string) {
	t.Helper()
	if err := s.host.Link(state); err != nil {
		t.Fatal(err)
	}
}

// change is when an upstream was replaced, and which.
type change struct {
	at     time.Time
	former string
}

// unbroken holds that no answer is lost, and that soon after each change no answer comes from the
// former upstream.
func unbroken(t *testing.T, outcome query.Outcome, changes []change) {
	t.Helper()
	var late int
	var longest time.Duration
	for _, a := range outcome.Answers {
		if a.Took > 100*time.Millisecond {
			late++
		}
	}
	for i, c := range changes {
		for _, a := range outcome.Answers {
			if a.Text == c.former && a.Asked.After(c.at) && (i+1 == len(changes) || a.Asked.Before(changes[i+1].at)) {
				longest = max(longest, a.Asked.Sub(c.at))
			}
		}
	}
	t.Logf("%d queries, %d changes: %d lost, %d took over 100 ms, the slowest %s; the former upstream was last asked %s after a change",
		len(outcome.Answers), len(changes), outcome.Lost(), late, outcome.Slowest().Round(time.Millisecond), longest.Round(100*time.Microsecond))
	if err := outcome.Err(); err != nil || longest > inForce {
		t.Errorf("%v; the former upstream was asked %s after a change, want %s at most", err, longest, inForce)
	}
}
