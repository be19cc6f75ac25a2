package listen

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// AskAgain returns what the kernel knows of the host that answers for a VIP, and has the kernel ask
// again. So the next answer is no older than the time after which the kernel gives up.
func AskAgain(on string, vip netip.Addr) (addr.Neighbour, error) {
	n, err := link.Neighbour(on, vip)
	if err != nil {
		return n, err
	}
	return n, link.Ask(on, vip)
}

func (l *Listener) setLinks(ctx context.Context, listening *sync.WaitGroup) {
	l.mu.Lock()
	wanted := map[string]bool{}
	for _, i := range l.wanted {
		wanted[i.Link] = true
	}
	l.mu.Unlock()
	for on, stop := range l.links {
		if !wanted[on] || ctx.Err() != nil {
			stop()
			delete(l.links, on)
		}
	}
	for name := range wanted {
		if l.links[name] == nil {
			on, stop := context.WithCancel(ctx)
			l.links[name] = stop
			listening.Go(func() { l.listen(on, name) })
		}
	}
}

// listen receives from a link until ctx ends. A link that fails, as it is down or has gone, is
// tried again.
func (l *Listener) listen(ctx context.Context, name string) {
	var logged loop.News
	for ctx.Err() == nil {
		begin := time.Now()
		l.locked(func() { l.since[name] = begin })
		err := l.Receive(ctx, name, func(h capture.Received) { l.receive(name, h) })
		l.locked(func() {
			if l.since[name].Equal(begin) { // else it is that of a later listen
				delete(l.since, name)
			}
			delete(l.failed, name)
			if err != nil && ctx.Err() == nil {
				l.failed[name] = err.Error()
			}
		})
		if err != nil && ctx.Err() == nil && logged.Is(err.Error()) {
			l.Log.Warn("receive adverts of other routers", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(everyRound):
		}
	}
	l.locked(func() { delete(l.failed, name) })
}

func (l *Listener) locked(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// receive records an advert. That of a foreign router starts a round at once.
func (l *Listener) receive(on string, h capture.Received) {
	if l.outputs.Adverts != nil {
		l.outputs.Adverts(h)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observer.Receive(received(on, h))
	for _, i := range l.wanted {
		group := i.Link == on && i.ID == h.ID && i.VIP.Is4() == h.From.Is4()
		if group && !slices.Contains(h.VIPs, i.VIP) {
			loop.Wake(l.foreign)
		}
	}
}

// received converts an advert to the form that package clash takes.
func received(on string, h capture.Received) clash.Received {
	return clash.Received{Link: on, MAC: h.MAC.String(), At: h.At, Advert: h.Advert}
}

// askNeighbours records which hosts answer for the VIPs. A kernel does not ask for an address
// that it has, so a holder does not see a second one: the other hosts do.
func (l *Listener) askNeighbours() {
	l.mu.Lock()
	wanted := l.wanted
	l.mu.Unlock()
	for _, i := range wanted {
		if !i.Near {
			continue
		}
		n, err := l.Neighbour(i.Link, i.VIP)
		if err != nil || n.MAC == "" {
			continue // the link has gone, or no host answers
		}
		l.locked(func() { l.observer.Answer(i.Link, i.VIP, n.MAC, time.Now()) })
	}
}
