package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestEvents holds what becomes an Event: a VIP that comes or goes, once, while it is news, and no
// more of them than an API can bear.
func TestEvents(t *testing.T) {
	entry := func(holder, earlier bool) Change {
		return Change{At: time.Now(), Instance: "one_API_0", VIP: netip.MustParseAddr("192.0.2.5"), Holder: holder, Why: "because", Earlier: earlier}
	}
	const b, m, f = false, true, false
	for _, tt := range []struct {
		name string
		do   func(set func(bool), wait func(time.Duration), fail func(bool), events *Events)
		want []string
	}{
		{"it stands by", func(set func(bool), _ func(time.Duration), _ func(bool), _ *Events) {
			set(b)
			set(f)
			set(b)
		}, nil},
		{"it comes and goes", func(set func(bool), _ func(time.Duration), _ func(bool), _ *Events) {
			set(b)
			set(m)
			set(m)
			set(b)
		},
			[]string{"VIPTaken This node holds the VIP 192.0.2.5 (one_API_0): because", "VIPLost This node holds the VIP 192.0.2.5 (one_API_0) no more: because"}},
		{"it was so before", func(set func(bool), _ func(time.Duration), _ func(bool), events *Events) {
			events.Note(entry(m, true))
			set(b)
		},
			[]string{"VIPLost This node holds the VIP 192.0.2.5 (one_API_0) no more: because"}},
		{"the API is away for a while", func(set func(bool), wait func(time.Duration), fail func(bool), _ *Events) {
			fail(true)
			set(m)
			wait(time.Minute)
			fail(false)
			wait(time.Minute)
		}, []string{"VIPTaken This node holds the VIP 192.0.2.5 (one_API_0): because"}},
		{"the API is away for long", func(set func(bool), wait func(time.Duration), fail func(bool), _ *Events) {
			fail(true)
			set(m)
			wait(time.Hour)
			fail(false)
			set(b)
		}, []string{"VIPLost This node holds the VIP 192.0.2.5 (one_API_0) no more: because"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []string
				var away atomic.Bool
				events := NewEvents(func() (string, error) { return "node-0", nil }, func(_ context.Context, node string, e Event) error {
					if away.Load() {
						return errors.New("refused")
					}
					if node != "node-0" || time.Since(e.At) > maxAge {
						t.Errorf("of %s, %v late", node, time.Since(e.At))
					}
					got = append(got, e.Reason+" "+e.Message)
					return nil
				}, slog.New(slog.DiscardHandler))
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- events.Run(ctx) }()
				wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
				tt.do(func(s bool) { events.Note(entry(s, false)); wait(time.Second) }, wait, func(is bool) { away.Store(is) }, events)
				wait(time.Second)
				cancel()
				if err := <-done; err != nil || !slices.Equal(got, tt.want) {
					t.Errorf("reported %q, %v\nwant %q", got, err, tt.want)
				}
			})
		})
	}
}

// TestEvents_Clock holds that a clock that is set right makes nothing old, and silences no Event
// for as long as it was wrong.
func TestEvents_Clock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		events := NewEvents(func() (string, error) { return "node-0", nil }, func(_ context.Context, _ string, e Event) error {
			got = append(got, e.Reason)
			return nil
		}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- events.Run(ctx) }()
		for n, wrong := range []time.Duration{-8 * time.Hour, 8 * time.Hour, 8 * time.Hour, 8 * time.Hour, 8 * time.Hour, 8 * time.Hour, 0, 0, 0} {
			events.Note(Change{At: time.Now().Add(wrong).Round(0), Instance: "one_API_0", Holder: n%2 == 0})
			time.Sleep(2 * time.Minute)
			synctest.Wait()
		}
		cancel()
		<-done
		if len(got) != 9 {
			t.Errorf("reported %q of nine changes", got)
		}
	})
}

// TestEvents_Bounded holds that a VIP that never rests makes few Events, and that the next one
// says how many there were not.
func TestEvents_Bounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		events := NewEvents(func() (string, error) { return "node-0", nil }, func(_ context.Context, _ string, e Event) error {
			got = append(got, e.Message)
			return nil
		}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- events.Run(ctx) }()
		for n := range 3600 {
			events.Note(Change{At: time.Now(), Instance: "one_API_0", Holder: n%2 == 0, Why: fmt.Sprint(n)})
			time.Sleep(time.Second)
		}
		synctest.Wait()
		cancel()
		<-done
		if len(got) < 60 || len(got) > 70 {
			t.Errorf("%d Events in an hour of 3600 changes, want one a minute and some", len(got))
		}
		if last := got[len(got)-1]; !strings.Contains(last, "59 changes before were not reported") && !strings.Contains(last, "60 changes before were not reported") {
			t.Errorf("the last one is %q", last)
		}
	})
}
