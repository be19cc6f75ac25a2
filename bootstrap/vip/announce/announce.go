// Package announce publishes the bootstrap machine's addresses to the cluster.
//
// Control plane nodes take the addresses as peers. If the API refuses the object, the VIP is not
// affected: the nodes then receive this machine's adverts only, and it does not receive theirs.
package announce

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// Interval is how often the heartbeat changes: one that stands still means that the machine is
// gone.
const Interval = 30 * time.Second

// retry paces writes that the API refuses: it may not run yet, or not have the namespace.
const retry = 5 * time.Second

// Object is the object of the cluster that holds what is announced.
type Object interface {
	Put(ctx context.Context, data map[string]string) error
}

// Announcer keeps the object as it should be.
type Announcer struct {
	object Object
	now    func() time.Time
	log    *slog.Logger
	wake   chan struct{}

	mu        sync.Mutex
	addresses []netip.Addr
	set       bool
}

// New makes an announcer that writes nothing before the first Announce.
func New(object Object, now func() time.Time, log *slog.Logger) *Announcer {
	return &Announcer{object: object, now: now, log: log, wake: loop.NewWake()}
}

// Announce sets the addresses. None means that this machine has left, also for nodes that join
// later: the object stays, and does not change any more. It does not wait.
func (a *Announcer) Announce(addresses []netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.set && slices.Equal(a.addresses, addresses) {
		return
	}
	a.addresses, a.set = append([]netip.Addr{}, addresses...), true
	loop.Wake(a.wake)
}

// Run keeps the object up to date until ctx ends, and does not delete it then: a machine that
// only restarts this program is still there.
func (a *Announcer) Run(ctx context.Context) error {
	var logged loop.News
	for {
		pause, err := a.round(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if text := fmt.Sprint(err); logged.Is(text) && err != nil {
			a.log.Warn("announce this machine to the cluster", "error", err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-a.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// round writes the object, and returns the time until the next round.
func (a *Announcer) round(ctx context.Context) (pause time.Duration, err error) {
	a.mu.Lock()
	addresses, set := a.addresses, a.set
	a.mu.Unlock()
	if !set {
		return Interval, nil
	}
	beat := uint64(0)
	if len(addresses) > 0 {
		beat = uint64(a.now().Unix())
	}
	err = a.object.Put(ctx, notice.EncodeBootstrap(addresses, beat))
	if err != nil {
		return retry, err
	}
	return Interval, nil
}
