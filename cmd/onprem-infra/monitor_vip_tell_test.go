//go:build remote

package main

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

	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// TestTeller holds what becomes an Event: a VIP that comes or goes, once, while it is news, and no
// more of them than an API can bear.
func TestTeller(t *testing.T) {
	entry := func(state supervised.State, late bool) journal.Entry {
		return journal.Entry{At: time.Now(), Instance: "one_API_0", VIP: netip.MustParseAddr("192.0.2.5"), State: state, Why: "because", Late: late}
	}
	const b, m, f = supervised.Backup, supervised.Master, supervised.Fault
	for _, tt := range []struct {
		name string
		do   func(say func(supervised.State), wait func(time.Duration), fail func(bool), tell *teller)
		want []string
	}{
		{"it stands by", func(say func(supervised.State), _ func(time.Duration), _ func(bool), _ *teller) {
			say(b)
			say(f)
			say(b)
		}, nil},
		{"it comes and goes", func(say func(supervised.State), _ func(time.Duration), _ func(bool), _ *teller) {
			say(b)
			say(m)
			say(m)
			say(b)
		},
			[]string{"VIPTaken This node holds the VIP 192.0.2.5 (one_API_0): because", "VIPLost This node holds the VIP 192.0.2.5 (one_API_0) no more: because"}},
		{"it was so before", func(say func(supervised.State), _ func(time.Duration), _ func(bool), tell *teller) {
			tell.note(entry(m, true))
			say(b)
		},
			[]string{"VIPLost This node holds the VIP 192.0.2.5 (one_API_0) no more: because"}},
		{"the API is away for a while", func(say func(supervised.State), wait func(time.Duration), fail func(bool), _ *teller) {
			fail(true)
			say(m)
			wait(time.Minute)
			fail(false)
			wait(time.Minute)
		}, []string{"VIPTaken This node holds the VIP 192.0.2.5 (one_API_0): because"}},
		{"the API is away for long", func(say func(supervised.State), wait func(time.Duration), fail func(bool), _ *teller) {
			fail(true)
			say(m)
			wait(time.Hour)
			fail(false)
			say(b)
		}, []string{"VIPLost This node holds the VIP 192.0.2.5 (one_API_0) no more: because"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []string
				var away atomic.Bool
				tell := newTeller(func() (string, error) { return "node-0", nil }, func(_ context.Context, node, reason, message string, at time.Time) error {
					if away.Load() {
						return errors.New("refused")
					}
					if node != "node-0" || time.Since(at) > tooOld {
						t.Errorf("of %s, %v late", node, time.Since(at))
					}
					got = append(got, reason+" "+message)
					return nil
				}, slog.New(slog.DiscardHandler))
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- tell.follow(ctx) }()
				wait := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
				tt.do(func(s supervised.State) { tell.note(entry(s, false)); wait(time.Second) }, wait, func(is bool) { away.Store(is) }, tell)
				wait(time.Second)
				cancel()
				if err := <-done; err != nil || !slices.Equal(got, tt.want) {
					t.Errorf("told %q, %v\nwant %q", got, err, tt.want)
				}
			})
		})
	}
}

// TestTellerClock holds that a clock that is set right makes nothing old, and has nobody be silent
// for as long as it was wrong.
func TestTellerClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		tell := newTeller(func() (string, error) { return "node-0", nil }, func(_ context.Context, _, reason, _ string, _ time.Time) error {
			got = append(got, reason)
			return nil
		}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- tell.follow(ctx) }()
		for n, wrong := range []time.Duration{-8 * time.Hour, 8 * time.Hour, 8 * time.Hour, 8 * time.Hour, 8 * time.Hour, 8 * time.Hour, 0, 0, 0} {
			state := []supervised.State{supervised.Master, supervised.Backup}[n%2]
			tell.note(journal.Entry{At: time.Now().Add(wrong).Round(0), Instance: "one_API_0", State: state})
			time.Sleep(2 * time.Minute)
			synctest.Wait()
		}
		cancel()
		<-done
		if len(got) != 9 {
			t.Errorf("told %q of nine changes", got)
		}
	})
}

// TestTellerIsBounded holds that a VIP that never rests makes few Events, and that the next one
// says how many there were not.
func TestTellerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		tell := newTeller(func() (string, error) { return "node-0", nil }, func(_ context.Context, _, _, message string, _ time.Time) error {
			got = append(got, message)
			return nil
		}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- tell.follow(ctx) }()
		for n := range 3600 {
			state := []supervised.State{supervised.Master, supervised.Backup}[n%2]
			tell.note(journal.Entry{At: time.Now(), Instance: "one_API_0", State: state, Why: fmt.Sprint(n)})
			time.Sleep(time.Second)
		}
		synctest.Wait()
		cancel()
		<-done
		if len(got) < 60 || len(got) > 70 {
			t.Errorf("%d Events in an hour of 3600 changes, want one a minute and some", len(got))
		}
		if last := got[len(got)-1]; !strings.Contains(last, "59 changes before were not told") && !strings.Contains(last, "60 changes before were not told") {
			t.Errorf("the last one says %q", last)
		}
	})
}
