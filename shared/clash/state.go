package clash

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// StateFile is where a host's monitor writes its State, below the run directory that it shares with
// keepalived's parent.
const StateFile = "heard/state.json"

// State is what a host knows of its VRRP groups by listening, at one time. The form is public:
// fields may be added.
type State struct {
	At       time.Time            `json:"at"`
	Since    map[string]time.Time `json:"since"`          // since when the host listens, by link
	Failed   map[string]string    `json:"deaf,omitempty"` // why it does not listen, by link
	Findings []Finding            `json:"findings"`
	Routers  []Router             `json:"speakers"`

	Elections []Election `json:"elections"`
}

// Election is the VRRP group of one instance of the host.
type Election struct {
	Instance vrrp.InstanceName `json:"instance"`
	Unicast  bool              `json:"unicast"`
	Own      netip.Addr        `json:"own,omitzero"`
	Members  []netip.Addr      `json:"members,omitempty"` // absent while they are not known
}

// Router is another router that announces a VIP of the cluster, and its last advert. Only holders
// send adverts.
type Router struct {
	Instance vrrp.InstanceName `json:"instance"`
	Host
	Priority   uint8        `json:"priority"` // 0: it releases the VIP
	Version    vrrp.Version `json:"version"`
	IntervalMs int          `json:"intervalMs"`
	Last       time.Time    `json:"last"`
	// mean deviation of the time between two adverts from the interval
	JitterMs float64 `json:"jitterMs"`
	Holds    bool    `json:"holds"` // its adverts have not timed out
}

// State is what is known now; since and failed are how the host listens.
func (e *Observer) State(
	since map[string]time.Time, failed map[string]string, now time.Time,
) State {
	s := State{
		At: now.UTC(), Since: map[string]time.Time{}, Failed: failed,
		Findings: append([]Finding{}, e.Findings(now)...),
		Routers:  []Router{}, Elections: []Election{},
	}
	for link, at := range since {
		s.Since[link] = at.UTC()
	}
	for n := range s.Findings {
		s.Findings[n].Last = s.Findings[n].Last.UTC()
	}
	for _, i := range e.instances {
		s.Elections = append(s.Elections,
			Election{Instance: i.Name, Unicast: i.Unicast, Own: i.Own, Members: i.Members})
		all := e.routers[i.group()]
		for _, from := range senders(all) {
			r := all[from]
			if !slices.Contains(r.advert.VIPs, i.VIP) || !r.remembered(now) {
				continue
			}
			s.Routers = append(s.Routers, Router{
				Instance: i.Name, Host: Host{from, r.mac}, Priority: r.advert.Priority,
				Version: r.advert.Version, IntervalMs: int(r.advert.Interval / time.Millisecond),
				Last: r.last.UTC(), Holds: r.holds(now),
				JitterMs: float64(r.jitter) / float64(time.Millisecond),
			})
		}
	}
	return s
}

// EncodeState writes a State as JSON in one line.
func EncodeState(s State) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		return nil // the clock has a year of five digits
	}
	return append(text, '\n')
}

// DecodeState reads what EncodeState wrote, of this release or another.
func DecodeState(text []byte) (State, error) {
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		return State{}, fmt.Errorf("read the listener's state: %w", err)
	}
	return s, nil
}
