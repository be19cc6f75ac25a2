package mdns

import (
	"context"
	"fmt"
)

// Apply has what is desired announced. An interface that is another one, or another address of this
// host there, is another link as far as anybody can tell, where names must be asked for anew. That
// IPv6 can be spoken too is none: the names stay this host's.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	if r.station != nil && (len(d.Hosts) == 0 || !d.Where.like(r.where) || r.station.told.ended()) {
		r.quit(len(d.Hosts) == 0)
	}
	if len(d.Hosts) == 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if r.station == nil {
		station, err := start(ctx, r.host, d.Where, r.jitter)
		if err != nil {
			return fmt.Errorf("announce on %s: %w", d.Where.Name, err)
		}
		r.where, r.station = d.Where, station
	}
	if d.Where != r.where {
		if err := r.station.reopen(ctx, r.host, d.Where); err != nil {
			return fmt.Errorf("announce on %s in both families: %w", d.Where.Name, err)
		}
		r.where = d.Where
	}
	r.station.set(d)
	return r.station.told.fault()
}

// Leave says goodbye.
func (r *Room) Leave(context.Context) error {
	r.quit(true)
	return nil
}

// quit ends the station. One that is followed by another says no goodbye: the host would be
// forgotten until the other has spoken, and what the other says replaces what is remembered.
func (r *Room) quit(goodbye bool) {
	if r.station != nil {
		r.station.stop(goodbye)
		r.station = nil
	}
}
