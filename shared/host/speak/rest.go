package speak

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// sure is how long it counts what routers had when they were asked for last, while nothing moves:
// most of what a speaker and bgpd do on a host at rest are questions with the same answers.
const sure = 5 * time.Second

// rest knows whether anything moves. The zero value is that of a host of which nothing is known.
type rest struct {
	moved time.Time                // when something did last
	asked time.Time                // when routers' routes were asked for last
	had   map[netip.Addr]bgp.Grade // announced by the last decision
}

// counts reports whether what was asked for last still counts.
func (r *rest) counts(now time.Time) bool {
	return now.Sub(r.moved) > sure && now.Sub(r.asked) < sure
}

// move notes that something moves.
func (r *rest) move(now time.Time) { r.moved = now }

// decided notes what was decided: another announcement than before moves, and so does a VIP that
// waits for what routers know.
func (r *rest) decided(now time.Time, d speak.Decision) {
	waits := slices.ContainsFunc(slices.Collect(maps.Values(d.State)), func(v speak.VIP) bool {
		return v.Phase == speak.Waiting
	})
	if waits || !maps.Equal(r.had, d.Announced) {
		r.move(now)
	}
	r.had = d.Announced
}
