package mdns

import (
	"context"
	"fmt"
)

// Apply has what is desired announced. An interface that is another one needs other sockets; what else changes the station says in its own time.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	if r.station != nil && (len(d.Hosts) == 0 || d.Where != r.where || r.station.told.ended()) {
		r.quit(len(d.Hosts) == 0)
	}
	if len(d.Hosts) == 0 {
		return nil
	}
	if r.station == nil {
		station, err := start(context.WithoutCancel(ctx), r.host, d.Where, r.jitter)
		if err != nil {
			return fmt.Errorf("announce on %s: %w", d.Where.Name, err)
		}
		r.where, r.station = d.Where, station
	}
	r.station.set(d)
	return r.station.told.fault()
}

// Leave says goodbye.
func (r *Room) Leave(context.Context) error {
	r.quit(true)
	return nil
}

// quit ends the station. One that is followed by another says no goodbye: the host would be forgotten until the other has spoken, and what the other
// says replaces what is remembered.
func (r *Room) quit(goodbye bool) {
	if r.station != nil {
		r.station.stop(goodbye)
		r.station = nil
	}
}
