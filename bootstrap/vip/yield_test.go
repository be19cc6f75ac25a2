package vip

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

var yielding = release.Verdict{Yield: true, Why: "the local API announces its shutdown and a master is ready"}

// TestYield hands the VIP over and takes it back: the container runs until the supervisor says that
// it has left, and the cluster knows of this machine until then.
func TestYield(t *testing.T) {
	asked := func(pid int, leaving supervised.Leaving) supervised.Status {
		s := elect(supervised.Master)
		s.PID, s.Leaving = pid, leaving
		return s
	}
	own := []netip.Addr{ip("192.0.2.10")}
	r, h, d, n := room(t, nil)
	clock := time.Now()
	r.now = func() time.Time { return clock }
	for _, step := range []struct {
		name      string
		verdict   release.Verdict
		status    supervised.Status
		after     time.Duration
		leaves    bool
		stops     int // at this step
		published []netip.Addr
	}{
		{name: "holds", verdict: hold, status: asked(7, ""), published: own},
		{name: "is asked", verdict: yielding, status: asked(7, ""), leaves: true, published: own},
		{name: "waits for another holder", verdict: yielding, status: asked(7, supervised.Asked), leaves: true, published: own, after: 4 * time.Second},
		{name: "has left", verdict: yielding, status: asked(0, supervised.Left), leaves: true, stops: 1},
		{name: "K-35: the API is back", verdict: hold, status: asked(0, supervised.Left), published: own},
		{name: "is asked again, a while later", verdict: yielding, status: asked(7, ""), leaves: true, published: own, after: time.Hour},
		{name: "K-34: the API is gone meanwhile", verdict: release.Verdict{Why: "the local API is gone, the VIP has been given up"}, status: asked(7, supervised.Asked), leaves: true, stops: 1},
		{name: "holds once more", verdict: hold, status: asked(7, ""), published: own},
		{name: "is asked, and hangs", verdict: yielding, status: asked(7, ""), leaves: true, published: own},
		{name: "has had its time", verdict: yielding, status: asked(7, ""), leaves: true, stops: 1, after: yieldBound},
		{name: "holds again", verdict: hold, status: asked(0, ""), published: own},
		{name: "nothing runs", verdict: yielding, status: supervised.Status{}, leaves: true, stops: 1},
	} {
		clock = clock.Add(step.after)
		h.verdict, h.status = &step.verdict, step.status
		before := d.stops
		if err := turn(t, r); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if published := h.published[len(h.published)-1]; h.leaves != step.leaves || d.stops-before != step.stops || !slices.Equal(published, step.published) {
			t.Errorf("%s: asked to leave %t, %d stops, published %v; want %t, %d, %v", step.name, h.leaves, d.stops-before, published, step.leaves, step.stops, step.published)
		}
	}
	if !slices.Contains(n.status, "hands the API VIP over to a control plane node") {
		t.Errorf("status %q", n.status)
	}
	h.deaf, h.verdict, h.status = true, &yielding, asked(7, "")
	before := d.stops
	if err := turn(t, r); err == nil || d.stops != before+1 {
		t.Errorf("a supervisor that cannot be asked: %d stops, %v", d.stops-before, err)
	}
}

// fakeBoard is a FAKE API with one object.
type fakeBoard struct {
	data map[string]string
	fail error
	puts int
	mu   sync.Mutex // the test holds it, but while it lets time pass
}

func (b *fakeBoard) Put(_ context.Context, data map[string]string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.puts++
	if b.fail == nil {
		b.data = data
	}
	return b.fail
}

// TestNotice publishes, beats, waits for an API that is away, follows the address, and takes
// everything away at the end.
func TestNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := &fakeBoard{fail: errors.New("namespaces \"x\" not found")}
		n := NewNotice(b, time.Now, slog.New(slog.NewTextHandler(io.Discard, nil)))
		done := make(chan error)
		go func() { done <- n.Run(ctx) }()
		b.mu.Lock()
		defer b.mu.Unlock()
		passing := func(do func()) { // what lets time pass
			b.mu.Unlock()
			defer b.mu.Lock()
			do()
		}
		pass := func(d time.Duration) {
			passing(func() {
				time.Sleep(d)
				synctest.Wait()
			})
		}
		pass(time.Hour)
		if b.puts != 0 {
			t.Error("something was published before anybody said what")
		}
		own := []netip.Addr{ip("192.0.2.10"), ip("2001:db8::10")}
		n.Want(own)
		pass(12 * time.Second)
		if b.puts != 3 || b.data != nil {
			t.Errorf("%d trials in 12 s, at 0, 5 and 10 s", b.puts)
		}
		b.fail = nil
		pass(4 * time.Second)
		first := b.data
		cluster := notice.Cluster{VIPs: []netip.Addr{ip("192.0.2.5")}}
		got, beat, err := notice.ReadBootstrap(first, cluster)
		if err != nil || !slices.Equal(got, own) || beat == 0 {
			t.Fatalf("published %v: %v, %d, %v", first, got, beat, err)
		}
		n.Want(own)
		pass(time.Second)
		if puts := b.puts; puts != 4 {
			t.Errorf("%d puts: what is wanted already was put again", puts)
		}
		pass(NoticeEvery)
		if got, next, err := notice.ReadBootstrap(b.data, cluster); err != nil || next == beat || !slices.Equal(got, own) {
			t.Errorf("no beat: %v after %v, %v", b.data, first, err)
		}
		n.Want(own[:1])
		pass(time.Second)
		if got, _, err := notice.ReadBootstrap(b.data, cluster); err != nil || !slices.Equal(got, own[:1]) {
			t.Errorf("the other address: %v, %v", b.data, err)
		}
		b.data = nil // somebody removed it
		pass(NoticeEvery)
		if reflect.DeepEqual(b.data, map[string]string(nil)) {
			t.Error("what was lost is not published again")
		}
		n.Want(nil)
		pass(time.Second)
		end := b.data
		if end["addresses"] != "[]" {
			t.Errorf("left behind: %v", end)
		}
		pass(time.Hour)
		if !reflect.DeepEqual(b.data, end) {
			t.Errorf("who has left still beats: %v after %v", b.data, end)
		}
		cancel()
		passing(func() { err = <-done })
		if err != nil {
			t.Error(err)
		}
	})
}
