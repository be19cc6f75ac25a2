package adverts

import (
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/host/capture"
)

// inbox are the adverts with longer intervals that wait for the loop. Of a flood it keeps those
// with the highest priorities, so that it needs little room, and no advert that keepalived accepts
// is lost to others that it refuses.
type inbox struct {
	wake chan struct{}

	mu        sync.Mutex
	elections map[string]election
	waiting   map[place]capture.Delivered
}

// place is of one advert. Those whose interval no profile has are undone in another way.
type place struct {
	instance  string
	noProfile bool
}

func newInbox() *inbox {
	return &inbox{wake: make(chan struct{}, 1), waiting: map[place]capture.Delivered{}}
}

// follow takes the elections whose adverts are kept from now on.
func (b *inbox) follow(elections map[string]election) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.elections = elections
	clear(b.waiting)
}

// put reports whether an advert has been kept.
func (b *inbox) put(d capture.Delivered) (kept bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, e := range b.elections {
		at := place{name, d.Interval > slowest}
		if e.adopts(d, 0) && d.Priority > b.waiting[at].Priority {
			b.waiting[at], kept = d, true
		}
	}
	if kept {
		select {
		case b.wake <- struct{}{}:
		default: // the loop will wake up
		}
	}
	return kept
}

// take empties the inbox.
func (b *inbox) take() map[place]capture.Delivered {
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting := b.waiting
	b.waiting = map[place]capture.Delivered{}
	return waiting
}
