package dhcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/dhcp/wire"
	"github.com/onprem-infra/onprem-infra/shared/offer"
)

const (
	// reopen is how often a link that has gone, or is down, is tried again.
	reopen = 500 * time.Millisecond
	// maxReported bounds the servers that are reported within a repetition, and their memory.
	maxReported = 64
)

// Watcher reports the servers of a link that are not expected. It sends nothing.
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

// Watch watches until ctx ends. It survives that the link goes away, and finds one of the same name
// when it comes back. A switch does not forward what a server sends to one host alone: seen are
// answers to all hosts of the link, and those to this host.
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
	c := wire.Client{Source: wire.LinkLocal(on.HardwareAddr)}
	socket, err := open(on, wire.Groups(c)...)
	if err != nil {
		return err
	}
	defer socket.Close()
	if raw, err := socket.SyscallConn(); err != nil {
		return err
	} else if err := pending(raw); err != nil {
		return err // of a link that is down
	}
	began()
	err = receive(ctx, socket, func(r wire.Received) {
		s, ok := wire.Read(r)
		if !ok || s.MAC == on.HardwareAddr.String() || w.Expected != nil && w.Expected().Has(s) {
			return
		}
		if seen.due(s, w.Repeat) {
			w.Report(s)
		}
	})
	if err == nil && ctx.Err() == nil {
		return errors.New("the link ended it")
	}
	return err
}

// identity is by what a server is reported once, whichever of its packets was received.
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
