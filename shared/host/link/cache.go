package link

import (
	"context"
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Cache keeps the last Snapshot until the kernel reports a change. Its methods may be called by
// several goroutines.
type Cache struct {
	read  func() (addr.Snapshot, error)
	watch func(context.Context, chan<- struct{}) error

	mu       sync.Mutex
	changes  int // that the kernel has reported
	watching bool
	valid    bool
	at       int // changes when last was read
	last     addr.Snapshot
}

// NewCache makes a cache that reads by Snapshot and watches by Watch.
func NewCache() *Cache { return &Cache{read: Snapshot, watch: Watch} }

// Snapshot is the machine as the kernel has it now. A change during the read is read the next time.
func (c *Cache) Snapshot() (addr.Snapshot, error) {
	c.mu.Lock()
	at, fresh, last := c.changes, c.valid && c.watching && c.at == c.changes, c.last
	c.mu.Unlock()
	if fresh {
		return last, nil
	}
	s, err := c.read()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.valid, c.at, c.last = err == nil, at, s
	return s, err
}

// Watch watches for changes as the function Watch does, for several loops. While it does not run,
// nothing is kept.
func (c *Cache) Watch(ctx context.Context, wakes ...chan<- struct{}) error {
	watching := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changed := loop.NewWake()
	go func() { watching <- c.watch(ctx, changed) }()
	for {
		select {
		case <-changed:
			c.note(true)
			for _, wake := range wakes {
				loop.Wake(wake)
			}
		case err := <-watching:
			c.note(false)
			return err
		}
	}
}

func (c *Cache) note(watching bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	c.watching = watching
}
