package adverts

import (
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// inbox are the adverts with longer intervals that wait for the loop. Of a flood it keeps those
// with the highest priorities, and none that keepalived refuses, so that it needs little room, and
// no advert that keepalived accepts is lost to others.
type inbox struct {
	wake chan struct{}

	mu         sync.Mutex
	elections  map[string]election
	priorities map[string]int // of the instances, as far as keepalived has reported them
	waiting    map[place]capture.Delivered
}

// place is the key of an advert. Those whose interval no profile has are undone in another way.
type place struct {
	instance  string
	noProfile bool
}

func newInbox() *inbox {
	return &inbox{wake: loop.NewWake(), priorities: map[string]int{},
		waiting: map[place]capture.Delivered{}}
}

// follow takes the elections whose adverts are kept from now on.
func (b *inbox) follow(elections map[string]election) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.elections = elections
	clear(b.waiting)
}

// know takes the priorities of the instances, below which keepalived refuses adverts.
func (b *inbox) know(instances map[string]supervised.Instance) {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.priorities)
	for name, i := range instances {
		b.priorities[name] = i.Priority
	}
}

// put reports whether an advert has been kept.
func (b *inbox) put(d capture.Delivered) (kept bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, e := range b.elections {
		at := place{name, d.Interval > slowest}
		if e.adopts(d, b.priorities[name]) && d.Priority > b.waiting[at].Priority {
			b.waiting[at], kept = d, true
		}
	}
	if kept {
		loop.Wake(b.wake)
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
