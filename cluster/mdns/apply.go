package mdns

import (
	"context"
	"fmt"
)

// Apply announces what is desired. Another interface, or another address of this host there, may be
// another link: names are then probed for again. If only IPv6 becomes usable the link is the same,
// and this host keeps its names.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	if r.station != nil &&
		(len(d.Hosts) == 0 || !d.Where.like(r.where) || r.station.status.now().over) {
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
	return r.station.status.now().err
}

// Leave sends a goodbye.
func (r *Room) Leave(context.Context) error {
	r.quit(true)
	return nil
}

// quit ends the station. A station with a successor sends no goodbye: others would forget the host
// until the successor has announced it, and that announcement replaces the former one.
func (r *Room) quit(goodbye bool) {
	if r.station != nil {
		r.station.stop(goodbye)
		r.station = nil
	}
}
