package clients

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clients"
)

var (
	vip   = netip.MustParseAddr("192.0.2.5")
	other = netip.MustParseAddr("192.0.2.6")
)

// machine is a host of two: what it sends the other one receives.
type machine struct {
	mu     sync.Mutex
	holds  []netip.Addr
	lists  map[netip.Addr][]clients.Client
	err    error
	costs  time.Duration // of a list
	listed int
	ended  map[netip.Addr][]clients.Client
	at     time.Time // of the last end
	peer   *Room
}

func newMachine() *machine {
	return &machine{lists: map[netip.Addr][]clients.Client{}, ended: map[netip.Addr][]clients.Client{}}
}

func (m *machine) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

func (m *machine) Holds() ([]netip.Addr, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.holds), m.err
}

func (m *machine) List(vip netip.Addr) ([]clients.Client, error) {
	time.Sleep(m.costs)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listed++
	return slices.Clone(m.lists[vip]), nil
}

func (m *machine) Send(_ netip.Addr, report []byte) {
	m.mu.Lock()
	peer := m.peer
	m.mu.Unlock()
	if peer != nil {
		peer.Receive(report, []netip.Addr{vip})
	}
}

func (m *machine) End(_ context.Context, vip netip.Addr, list []clients.Client) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended[vip], m.at = list, time.Now()
	return nil
}

func client(last byte) clients.Client {
	return clients.Client{Remote: netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, 100, last}), 40000), Port: 6443}
}

// run runs a room until the test ends.
func run(t *testing.T, m *machine) (r *Room, changed chan struct{}) {
	r, changed = New(m, slog.New(slog.DiscardHandler)), make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx, changed) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r, changed
}

// TestRun holds that a host which takes a VIP over ends the connections that the former holder had,
// at once, once, and none that it has itself.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		holder, successor := newMachine(), newMachine()
		next, changed := run(t, successor)
		holder.peer = next
		holder.holds, holder.lists[vip] = []netip.Addr{vip, other}, []clients.Client{client(1), client(2), client(3)}
		holder.lists[other] = []clients.Client{client(9)}
		_, lost := run(t, holder)
		time.Sleep(2 * time.Second)
		holder.set(func() { holder.holds = nil })
		lost <- struct{}{}
		time.Sleep(90 * time.Millisecond)
		begin := time.Now()
		successor.set(func() { successor.holds, successor.lists[vip] = []netip.Addr{vip, other}, []clients.Client{client(2)} })
		changed <- struct{}{}
		time.Sleep(10 * time.Second)
		synctest.Wait() // until both have done the rounds of this moment
		list := successor.ended[vip]
		slices.SortFunc(list, func(a, b clients.Client) int { return a.Remote.Compare(b.Remote) })
		if want := []clients.Client{client(1), client(3)}; !slices.Equal(list, want) || successor.at != begin {
			t.Errorf("%v ended after %v, want %v at once", list, successor.at.Sub(begin), want)
		}
		if len(successor.ended[other]) != 0 {
			t.Errorf("%v ended, of a VIP that the holder may not report", successor.ended[other])
		}
		if len(holder.ended) != 0 {
			t.Errorf("the holder ended %v", holder.ended)
		}
	})
}

// TestRun_Cost holds that listing takes a hundredth of the time at most, and that nothing is listed
// where no VIP is held.
func TestRun_Cost(t *testing.T) {
	for _, tt := range []struct {
		costs time.Duration
		want  int
	}{{0, 40}, {20 * time.Millisecond, 5}} {
		synctest.Test(t, func(t *testing.T) {
			m := newMachine()
			m.costs = tt.costs
			_, changed := run(t, m)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if m.listed != 0 {
				t.Errorf("%d lists without a VIP", m.listed)
			}
			m.set(func() { m.holds = []netip.Addr{vip} })
			changed <- struct{}{}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if m.listed < tt.want-1 || m.listed > tt.want+1 {
				t.Errorf("%d lists of %v each in 10 s, want %d", m.listed, tt.costs, tt.want)
			}
		})
	}
}

// TestRun_Errors holds that a host whose links cannot be read for a while has lost no VIP by that.
func TestRun_Errors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine()
		m.holds = []netip.Addr{vip}
		r, _ := run(t, m)
		time.Sleep(time.Second)
		report := clients.NewReporter(vip).Next([]clients.Client{client(1)})[0]
		r.Receive(report, []netip.Addr{vip})
		m.set(func() { m.err = errors.New("no links") })
		time.Sleep(time.Second)
		m.set(func() { m.err = nil })
		time.Sleep(time.Second)
		synctest.Wait()
		if len(m.ended) != 0 {
			t.Errorf("%v ended", m.ended)
		}
	})
}

// TestAnew holds that a peer which knows nothing yet, as after a restart, soon knows all clients,
// and that a node's counts are those of what was reported and ended.
func TestAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		holder, successor := newMachine(), newMachine()
		holder.holds = []netip.Addr{vip}
		for i := range byte(100) {
			holder.lists[vip] = append(holder.lists[vip], client(i))
		}
		r, _ := run(t, holder)
		time.Sleep(5 * time.Second)
		next, changed := run(t, successor)
		holder.set(func() { holder.peer = next })
		r.Anew()
		time.Sleep(time.Second)
		if known, ended := next.Counts(vip); known != 100 || ended != 0 {
			t.Errorf("%d clients known and %d ended, want 100 and 0", known, ended)
		}
		holder.set(func() { holder.holds = nil })
		time.Sleep(time.Second)
		successor.set(func() { successor.holds = []netip.Addr{vip} })
		changed <- struct{}{}
		time.Sleep(time.Second)
		if known, ended := next.Counts(vip); known != 0 || ended != 100 {
			t.Errorf("%d clients known and %d ended, want 0 and 100", known, ended)
		}
	})
}
