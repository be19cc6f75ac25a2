package dhcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/dhcp/wire"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/offer"
)

const (
	// reopen is how often a link that has gone, or is down, is tried again.
	reopen = 500 * time.Millisecond
	// maxReported bounds the servers that are reported within a repetition, and their memory.
	maxReported = 64
)

// Watcher reports the servers of a link that are not expected.
//
// A switch does not forward here what a server sends to another host by unicast, as Kea and every
// DHCPv6 server do (RFC 8415 18.3.9). But hosts' requests go to all. After one the watcher sends
// a Probe's requests, so that it knows a server that answers both as soon as the host has its
// answer. Watchers do not react to each other's requests.
type Watcher struct {
	Link string
	// Expected is asked for each packet: an address that moves has another MAC afterwards. Without
	// it no server is expected but this host's own.
	Expected func() offer.Expected
	// Report gets a server at once, and again while it sends packets, after Repeat each time.
	Report func(offer.Server)
	Repeat time.Duration
	// Listens gets nil when the watcher begins to listen, and an error while it cannot, as when
	// the link has gone. It is called when that changes.
	Listens func(error)
}

// Watch watches until ctx ends. If the link goes away, it goes on when there is a link of that
// name again.
func (w Watcher) Watch(ctx context.Context) {
	seen := reported{}
	var before *string
	change := func(err error) {
		why := fmt.Sprint(err)
		if w.Listens != nil && (before == nil || *before != why) {
			w.Listens(err)
		}
		before = &why
	}
	for ctx.Err() == nil {
		err := w.listen(ctx, seen, func() { change(nil) })
		if ctx.Err() != nil {
			return
		}
		change(fmt.Errorf("watch for DHCP servers on %s: %w", w.Link, err))
		select {
		case <-ctx.Done():
		case <-time.After(reopen):
		}
	}
}

func (w Watcher) listen(ctx context.Context, seen reported, began func()) error {
	on, err := ethernet(w.Link)
	if err != nil {
		return err
	}
	c := Probe{}.client(on)
	requests, err := Probe{}.requests(c)
	if err != nil {
		return err
	}
	socket, err := open(on, wire.Groups(c)...)
	if err != nil {
		return err
	}
	defer socket.Close()
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	if err := pending(raw); err != nil {
		return err // of a link that is down
	}
	began()
	asked := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(ctx)
	var asks sync.WaitGroup
	defer asks.Wait()
	defer cancel()
	asks.Go(func() { follow(ctx, asked, func() { _ = sendAll(raw, on, requests) }) })
	err = receive(ctx, socket, func(r wire.Received) {
		if s, ok := wire.Read(r); ok {
			if s.MAC != on.HardwareAddr.String() && !w.expects(s) && seen.due(s, w.Repeat) {
				w.Report(s)
			}
		} else if answer, ok := wire.Reply(c, r); ok {
			_ = send(raw, on, answer) // the server asks again
		} else if wire.Asks(r) {
			loop.Wake(asked)
		}
	})
	if err == nil && ctx.Err() == nil {
		return errors.New("the link ended it")
	}
	return err
}

func (w Watcher) expects(s offer.Server) bool {
	return w.Expected != nil && w.Expected().Has(s)
}

// follow calls ask when a host has sent a request, and at most once in the time between two
// rounds of a probe.
func follow(ctx context.Context, asked <-chan struct{}, ask func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
			ask()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(again):
		}
	}
}

// identity distinguishes servers: each is reported once, whichever of its packets was received.
type identity struct {
	kind offer.Kind
	mac  string
	vlan uint16
}

// reported is when each server was reported last.
type reported map[identity]time.Time

// due reports whether to report a server now, and notes that.
func (r reported) due(s offer.Server, repeat time.Duration) bool {
	for id, at := range r {
		if s.Last.Sub(at) >= repeat {
			delete(r, id)
		}
	}
	id := identity{s.Kind, s.MAC, s.VLAN}
	if _, had := r[id]; had || len(r) >= maxReported {
		return false
	}
	r[id] = s.Last
	return true
}
