package dhcp

import (
	"context"
	"sync"
)

// Follower watches one link at a time, which changes. Its methods are for one goroutine.
type Follower struct {
	// Watcher is how each link is watched; its Link is not used.
	Watcher Watcher

	link  string
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// Watch watches a link instead of the former one; none if it is empty. The former watcher reports
// nothing any more when this returns.
func (f *Follower) Watch(link string) {
	if link == f.link {
		return
	}
	if f.stop != nil {
		f.stop()
		f.ended.Wait()
		f.stop = nil
	}
	if f.link = link; link == "" {
		return
	}
	w := f.Watcher
	w.Link = link
	ctx, cancel := context.WithCancel(context.Background())
	f.stop = cancel
	f.ended.Go(func() { w.Watch(ctx) })
}
