package occupant

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// network is a FAKE one: who answers, and what is wrong with it.
type network struct {
	mu       sync.Mutex
	answers  []string
	card, no error
	asked    int
}

func (n *network) Card() (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return "eno2", n.card
}

func (n *network) WhoHas(string, netip.Addr) ([]string, error) {
	time.Sleep(time.Second)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	return n.answers, n.no
}

const node, stranger = "52:54:00:00:00:02", "52:54:00:00:00:99"

// TestWatch holds who counts as another machine, and that a network which cannot be asked proves
// nothing in either direction.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known, err := mac.Parse(node)
		if err != nil {
			t.Fatal(err)
		}
		n, wake := &network{card: errors.New("no card")}, loop.NewWake()
		w := New(Options{Address: netip.MustParseAddr("172.22.0.3"), Hosts: []mac.MAC{known}, Network: n, Wake: wake, Log: slog.New(slog.DiscardHandler)})
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		for _, step := range []struct {
			name     string
			answers  []string
			card, no error
			want     Finding
			woken    bool
		}{
			{"a card that is not there", nil, errors.New("no card"), nil, Finding{}, false},
			{"no answer", nil, nil, nil, Finding{Known: true}, true},
			{"a node", []string{node}, nil, nil, Finding{Known: true}, false},
			{"the bootstrap machine", []string{node, stranger}, nil, nil, Finding{Known: true, Other: stranger}, true},
			{"the link is down", nil, nil, errors.New("network is down"), Finding{Known: true, Other: stranger}, false},
			{"it is silent for a moment", nil, nil, nil, Finding{Known: true, Other: stranger}, false},
			{"it is back", []string{stranger}, nil, nil, Finding{Known: true, Other: stranger}, false},
		} {
			n.mu.Lock()
			n.answers, n.card, n.no = step.answers, step.card, step.no
			n.mu.Unlock()
			time.Sleep((first + 1) * Interval)
			synctest.Wait()
			woken := false
			select {
			case <-wake:
				woken = true
			default:
			}
			if got := w.Found(); got.Known != step.want.Known || got.Other != step.want.Other || woken != step.woken {
				t.Errorf("%s: %+v, woken %t, want %+v, %t", step.name, got, woken, step.want, step.woken)
			}
		}
		n.mu.Lock()
		n.answers = nil
		n.mu.Unlock()
		time.Sleep((after - 1) * Interval)
		synctest.Wait()
		if got := w.Found(); got.Other == "" {
			t.Error("it has left for good after a moment")
		}
		time.Sleep(2 * Interval)
		synctest.Wait()
		if got := w.Found(); !got.Known || got.Other != "" {
			t.Errorf("it has left, and %+v is found", got)
		}
		asked := func() int {
			n.mu.Lock()
			defer n.mu.Unlock()
			return n.asked
		}
		before := asked()
		time.Sleep(time.Minute)
		synctest.Wait()
		if asked := asked() - before; asked != int(time.Minute/Interval) {
			t.Errorf("asked %d times in a minute", asked)
		}
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
