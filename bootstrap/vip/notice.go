package vip

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

// NoticeEvery is how often the notice's number changes: a standing one says that the machine is
// gone.
const NoticeEvery = 30 * time.Second

// noticeRetry paces what the API does not take: it may not run yet, or not have the namespace.
const noticeRetry = 5 * time.Second

// Board is where the notice hangs: one object of the cluster.
type Board interface {
	Put(ctx context.Context, data map[string]string) error
}

// Notice keeps what the cluster reads of this machine as it should be. It costs the VIP nothing
// when the API does not take it: the control plane nodes then hear of this machine by its adverts
// only, and it does not hear them.
type Notice struct {
	board Board
	now   func() time.Time
	log   *slog.Logger
	wake  chan struct{}

	mu   sync.Mutex
	want []netip.Addr
	told bool // somebody has said what is wanted
}

// NewNotice publishes nothing before it is told what.
func NewNotice(board Board, now func() time.Time, log *slog.Logger) *Notice {
	return &Notice{board: board, now: now, log: log, wake: loop.NewWake()}
}

// Want says which addresses the notice should have. None says that this machine has left, to nodes
// that join later too: the notice stays, and does not change any more. It does not wait.
func (n *Notice) Want(addresses []netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.told && slices.Equal(n.want, addresses) {
		return
	}
	n.want, n.told = append([]netip.Addr{}, addresses...), true
	loop.Wake(n.wake)
}

// Run keeps the notice until ctx ends, and leaves it as it is then: a machine that only restarts
// this program is still there.
func (n *Notice) Run(ctx context.Context) error {
	var said loop.News
	for {
		pause, err := n.round(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if text := fmt.Sprint(err); said.Is(text) && err != nil {
			n.log.Warn("tell the cluster of this machine", "error", err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-n.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// round makes the notice so, and says when to look again.
func (n *Notice) round(ctx context.Context) (pause time.Duration, err error) {
	n.mu.Lock()
	want, told := n.want, n.told
	n.mu.Unlock()
	if !told {
		return NoticeEvery, nil
	}
	beat := uint64(0)
	if len(want) > 0 {
		beat = uint64(n.now().Unix())
	}
	err = n.board.Put(ctx, notice.EncodeBootstrap(want, beat))
	if err != nil {
		return noticeRetry, err
	}
	return NoticeEvery, nil
}
