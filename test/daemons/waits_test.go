package daemons

import (
	"context"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestWaits holds on real keepalived what the simulator is built on: for how long a backup waits,
// and from which advert it counts. The adverts' times are the switch's. keepalived may be late by
// what a busy machine takes, and never early.
func TestWaits(t *testing.T) {
	const (
		advert      = 100 * time.Millisecond
		high, low   = vrrp.Priority(120), vrrp.Priority(20) // of the holder, while its tracked file says 1 and 0
		other, less = vrrp.Priority(90), vrrp.Priority(60)  // of the other, likewise
		early, late = 5 * time.Millisecond, 3 * vrrp.Reaction
	)
	down := func(p vrrp.Priority) time.Duration { return vrrp.MasterDown(vrrp.V3, p, advert) }
	a, b := netip.MustParseAddr("192.0.2.11"), netip.MustParseAddr("192.0.2.12")
	type fault struct {
		name string
		do   func(t *testing.T, holder *lab.Host, track func(file, text string), end func())
		from vrrp.Priority // of the holder's adverts, the last one before mark counts
		want time.Duration
	}
	wait := func(t *testing.T, tt fault) time.Duration {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		l, dir := lab.New(t), t.TempDir()
		holder, second := add(t, l, "a", "192.0.2.11/24"), add(t, l, "b", "192.0.2.12/24")
		track := func(file, text string) { put(t, filepath.Join(dir, file), text+"\n") }
		track("a", "1")
		track("b", "1")
		observer, err := lab.Observe(netip.MustParseAddr("192.0.2.5"), 5*time.Millisecond, holder, second)
		if err != nil {
			t.Fatal(err)
		}
		defer observer.Stop()
		adverts, err := l.Adverts()
		if err != nil {
			t.Fatal(err)
		}
		defer adverts.Stop()
		first := start(t, holder, tracked("lb", a.String(), low, filepath.Join(dir, "a"), int(high-low), b))
		if _, err := observer.Wait(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		start(t, second, tracked("lb", b.String(), less, filepath.Join(dir, "b"), int(other-less), a))
		time.Sleep(time.Second) // it has received the holder's adverts
		tt.do(t, holder, track, first.end)
		done := time.Now()
		if _, err := observer.Wait(ctx, "b"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(advert) // the switch's report may come later than the kernel's
		var received, taken time.Time
		for _, one := range adverts.So() {
			switch {
			case one.From == b && taken.IsZero():
				taken = one.At
			case one.From == a && taken.IsZero() && one.Priority == int(tt.from) && (tt.from != low || one.At.Before(done)):
				received = one.At
			}
		}
		if received.IsZero() {
			t.Fatalf("no advert of priority %d was received", tt.from)
		}
		return taken.Sub(received)
	}
	for _, tt := range []fault{
		{"the power", func(t *testing.T, holder *lab.Host, _ func(string, string), _ func()) {
			if err := holder.Off(); err != nil {
				t.Fatal(err)
			}
		}, high, down(other)},
		{"it sinks", func(_ *testing.T, _ *lab.Host, track func(string, string), _ func()) { track("a", "0") }, high, down(other)},
		{"a farewell", func(_ *testing.T, _ *lab.Host, _ func(string, string), end func()) { end() }, 0, vrrp.Skew(vrrp.V3, other, advert)},
		// The other counts from the last advert that it discarded before its own priority changed.
		{"it sinks, and the other later", func(_ *testing.T, _ *lab.Host, track func(string, string), _ func()) {
			track("a", "0")
			time.Sleep(2 * advert) // the other discards two adverts of it
			track("b", "0")
		}, low, down(less)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// A machine that stalls lets the test itself act late, so one of three times is enough.
			for range 3 {
				got := wait(t, tt)
				t.Logf("it waits for %v after the last advert of priority %d, and %v are to be", got, tt.from, tt.want)
				if got >= tt.want-early && got <= tt.want+late {
					return
				}
			}
			t.Errorf("it never waits for %v", tt.want)
		})
	}
}
