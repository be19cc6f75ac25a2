package announce

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
)

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

// fakeObject is a FAKE API with one object.
type fakeObject struct {
	data map[string]string
	fail error
	puts int
	mu   sync.Mutex // the test holds it, but while it lets time pass
}

func (b *fakeObject) Put(_ context.Context, data map[string]string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.puts++
	if b.fail == nil {
		b.data = data
	}
	return b.fail
}

// TestAnnouncer publishes, beats, waits for an API that is away, follows the address, and takes
// everything away at the end.
func TestAnnouncer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := &fakeObject{fail: errors.New("namespaces \"x\" not found")}
		n := New(b, time.Now, slog.New(slog.NewTextHandler(io.Discard, nil)))
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
			t.Error("something was published before the first Announce")
		}
		own := []netip.Addr{ip("192.0.2.10"), ip("2001:db8::10")}
		n.Announce(own)
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
		n.Announce(own)
		pass(time.Second)
		if puts := b.puts; puts != 4 {
			t.Errorf("%d puts: what is wanted already was put again", puts)
		}
		pass(Interval)
		if got, next, err := notice.ReadBootstrap(b.data, cluster); err != nil || next == beat || !slices.Equal(got, own) {
			t.Errorf("no beat: %v after %v, %v", b.data, first, err)
		}
		n.Announce(own[:1])
		pass(time.Second)
		if got, _, err := notice.ReadBootstrap(b.data, cluster); err != nil || !slices.Equal(got, own[:1]) {
			t.Errorf("the other address: %v, %v", b.data, err)
		}
		b.data = nil // a person removed it
		pass(Interval)
		if reflect.DeepEqual(b.data, map[string]string(nil)) {
			t.Error("what was lost is not published again")
		}
		n.Announce(nil)
		pass(time.Second)
		end := b.data
		if end["addresses"] != "[]" {
			t.Errorf("left behind: %v", end)
		}
		pass(time.Hour)
		if !reflect.DeepEqual(b.data, end) {
			t.Errorf("a machine that left still beats: %v after %v", b.data, end)
		}
		cancel()
		passing(func() { err = <-done })
		if err != nil {
			t.Error(err)
		}
	})
}
