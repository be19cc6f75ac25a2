// Package clients keeps the nodes that may succeed the holder of a VIP informed of its clients, and
// ends the connections of a holder that has vanished.
//
// No VIP depends on it: what fails is logged, and clients then notice a loss as they did before, by
// their own keep-alive.
package clients

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clients"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// share is the part of a processor's time that listing may take: a hundredth of it.
const share = 100

// idle is the time between two rounds on a host that holds no VIP: a change of its links asks for
// one at once.
const idle = time.Second

// Host is the machine.
type Host interface {
	// Holds are the VIPs that a link of this host has.
	Holds() ([]netip.Addr, error)
	// List are the clients of a VIP that this host has.
	List(vip netip.Addr) ([]clients.Client, error)
	// Send reports to the peers of a VIP.
	Send(vip netip.Addr, report []byte)
	// End ends connections that a former holder of a VIP had, and returns once it has.
	End(ctx context.Context, vip netip.Addr, list []clients.Client) error
}

// Room runs this node's part.
type Room struct {
	host Host
	log  *slog.Logger
	news loop.News

	mu    sync.Mutex
	table *clients.Table
	ended map[netip.Addr]uint64 // connections, since this program started

	held map[netip.Addr]*clients.Reporter
	next time.Time   // of the next list
	anew atomic.Bool // a peer has received nothing yet
}

// New makes a room that holds no VIP and knows of no client.
func New(host Host, log *slog.Logger) *Room {
	return &Room{host: host, log: log, table: clients.NewTable(),
		ended: map[netip.Addr]uint64{}, held: map[netip.Addr]*clients.Reporter{}}
}

// Receive takes a peer's report over. Any goroutine may call it.
func (r *Room) Receive(report []byte, of []netip.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	may := func(vip netip.Addr) bool { return slices.Contains(of, vip) }
	if err := r.table.Add(report, may, time.Now()); err != nil {
		r.log.Debug("drop a report of clients", "error", err)
	}
}

// Counts are how many clients of a VIP its holder has reported to this node, and how many
// connections of former holders this node has ended. Any goroutine may call it.
func (r *Room) Counts(vip netip.Addr) (known int, ended uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.table.Known(vip, time.Now()), r.ended[vip]
}

// Anew makes the next report a full one, for peers that have received nothing yet. Any goroutine
// may call it.
func (r *Room) Anew() { r.anew.Store(true) }

// Run reports in each round, and acts on a takeover as soon as changed is sent to, until ctx ends.
func (r *Room) Run(ctx context.Context, changed <-chan struct{}) error {
	var ends sync.WaitGroup
	defer ends.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-timer.C:
		}
		r.round(ctx, &ends)
		if timer.Reset(clients.Every); len(r.held) == 0 {
			timer.Reset(idle)
		}
	}
}

// round compares the VIPs that this host holds with those of the last round.
func (r *Room) round(ctx context.Context, ends *sync.WaitGroup) {
	vips, err := r.host.Holds()
	if err != nil {
		r.warn(err)
		return
	}
	for vip := range r.held {
		if !slices.Contains(vips, vip) {
			delete(r.held, vip)
		}
	}
	for _, vip := range vips {
		if r.held[vip] == nil {
			r.held[vip] = clients.NewReporter(vip)
			r.take(ctx, vip, ends)
		}
	}
	if time.Now().Before(r.next) || len(r.held) == 0 {
		return
	}
	begin, anew := time.Now(), r.anew.Swap(false)
	for vip, reporter := range r.held {
		if anew {
			reporter = clients.NewReporter(vip)
			r.held[vip] = reporter
		}
		if err := r.report(vip, reporter); err != nil {
			r.warn(err)
		}
	}
	// a little less than a round, as ticks are not exact
	r.next = begin.Add(max(clients.Every-clients.Every/10, share*time.Since(begin)))
}

func (r *Room) report(vip netip.Addr, to *clients.Reporter) error {
	list, err := r.host.List(vip)
	if err != nil {
		return err
	}
	for _, report := range to.Next(list) {
		r.host.Send(vip, report)
	}
	return nil
}

// take ends the connections of a VIP's former holder, but for those that this host has itself.
func (r *Room) take(ctx context.Context, vip netip.Addr, ends *sync.WaitGroup) {
	r.mu.Lock()
	left := r.table.Take(vip, time.Now())
	r.mu.Unlock()
	if len(left) == 0 {
		return
	}
	own, err := r.host.List(vip)
	if err != nil {
		r.warn(err)
	}
	lives := make(map[clients.Client]bool, len(own))
	for _, c := range own {
		lives[c] = true
	}
	left = slices.DeleteFunc(left, func(c clients.Client) bool { return lives[c] })
	ends.Go(func() {
		if err := r.host.End(ctx, vip, left); err != nil {
			r.log.Warn("end the connections of the VIP's former holder", "vip", vip, "error", err)
			return
		}
		r.mu.Lock()
		r.ended[vip] += uint64(len(left))
		r.mu.Unlock()
		r.log.Info("end the connections of the VIP's former holder", "vip", vip,
			"clients", len(left))
	})
}

func (r *Room) warn(err error) {
	if r.news.Is(err.Error()) {
		r.log.Warn("report the clients of a VIP", "error", err)
	}
}
