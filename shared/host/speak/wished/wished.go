// Package wished keeps what a host's monitor wants of its speaker, and knows when the monitor was
// alive last.
package wished

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Wish is the last wish that was read. The zero value is for no monitor.
type Wish struct {
	spoken.Wish
	received time.Time // when its monitor was alive last, by this program's clock
	dead     bool      // its monitor has left its lock behind
	last     time.Time // the heartbeat then
	missed   spoken.Monitor
}

// Receive takes a wish into use. Another Beat than the last one is a heartbeat, received at now:
// this program's own clock, which no change of the host's time moves. A first Beat that is older
// than speak.Silence by the host's clock is of a monitor that ended long ago, and no heartbeat.
func (w *Wish) Receive(is spoken.Wish, now time.Time) {
	first := w.Beat.IsZero()
	switch {
	case first && now.Sub(is.Beat) > speak.Silence:
	case !is.Beat.Equal(w.Beat):
		w.received = now
	}
	w.Wish = is
}

// Speak is the wish for speak.Decide; leaving asks for the end of everything in order.
func (w *Wish) Speak(leaving bool) speak.Wish {
	is := w.Wish.Speak(leaving)
	is.Beat, is.Died = w.received, w.Died()
	return is
}

// Leaves reports whether a host with grade g is at its last demotion before it withdraws a VIP.
func (w *Wish) Leaves(vip netip.Addr, g bgp.Grade) bool {
	return slices.ContainsFunc(w.Routes, func(r spoken.Route) bool {
		return r.VIP == vip && len(r.Demotions) > 0 && g >= r.Demotions[len(r.Demotions)-1]
	})
}

// Withdraws reports whether a withdrawal is due, or routers may still have a withdrawn VIP.
func (w *Wish) Withdraws(state speak.State) bool {
	for vip, v := range state {
		serves := slices.ContainsFunc(w.Routes, func(r spoken.Route) bool { return r.VIP == vip })
		switch v.Phase {
		case speak.Announced, speak.Demoted:
			if !serves {
				return true
			}
		case speak.Withdrawn:
			if v.Clear.IsZero() {
				return true
			}
		}
	}
	return false
}
