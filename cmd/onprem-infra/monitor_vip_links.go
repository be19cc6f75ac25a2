//go:build remote

package main

import (
	"context"
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// keptLinks are the machine's links as they were read last, for as long as the kernel says nothing
// of a change: a loop turns every second, and a machine changes seldom.
type keptLinks struct {
	read  func() (addr.Snapshot, error)
	watch func(context.Context, chan<- struct{}) error // as link.Watch

	mu      sync.Mutex
	news    int  // how often the kernel has spoken
	follows bool // it would
	have    bool
	at      int // news when they were read
	last    addr.Snapshot
}

func newKeptLinks() *keptLinks { return &keptLinks{read: link.Snapshot, watch: link.Watch} }

// snapshot is what the kernel holds now. What changes while it is read is news, and read the next
// time.
func (k *keptLinks) snapshot() (addr.Snapshot, error) {
	k.mu.Lock()
	at, fresh, last := k.news, k.have && k.follows && k.at == k.news, k.last
	k.mu.Unlock()
	if fresh {
		return last, nil
	}
	s, err := k.read()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.have, k.at, k.last = err == nil, at, s
	return s, err
}

// follow is link.Watch. While it does not run, what was read is not believed.
func (k *keptLinks) follow(ctx context.Context, wake chan<- struct{}) error {
	watching := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	heard := loop.NewWake()
	go func() { watching <- k.watch(ctx, heard) }()
	for {
		select {
		case <-heard:
			k.note(true)
			loop.Wake(wake)
		case err := <-watching:
			k.note(false)
			return err
		}
	}
}

func (k *keptLinks) note(follows bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.news++
	k.follows = follows
}
