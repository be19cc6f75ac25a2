package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// awayEngine is a FAKE: an engine whose registry is down until a time. Each pull fails after three
// seconds with other numbers in its error, as podman's does.
type awayEngine struct {
	*fakeEngine
	until time.Time
	tries []time.Time
	pulls int
}

func (e *awayEngine) Pull(ctx context.Context, ref, authFile string) error {
	e.tries = append(e.tries, time.Now())
	if now := time.Now(); now.Before(e.until) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(3 * time.Second):
		}
		n := len(e.tries)
		return fmt.Errorf(`pull image %s: storing blob to file "/var/tmp/storage%d/1": read tcp 192.0.2.10:%d->192.0.2.1:5000: connection reset by peer (%d/3, %s)`,
			ref, now.UnixNano(), 40000+n, n%3+1, now.Format(time.RFC3339))
	}
	e.pulls++
	return e.fakeEngine.Pull(ctx, ref, authFile)
}

// room runs a Keeper in a loop as the bootstrap machine does, and returns its log when ctx has
// ended.
func room(ctx context.Context, k *Keeper, wake chan struct{}, spec container.Spec) (log string, err error) {
	var out bytes.Buffer
	k.Log = slog.New(slog.NewTextHandler(&out, nil))
	err = loop.Run(ctx, loop.Steps[int, int]{
		Observe: func(context.Context) (int, error) { return 0, nil },
		Decide:  func(int) (int, loop.Reasons) { return 0, nil },
		Apply: func(ctx context.Context, _ int) error {
			err := k.Ensure(ctx, spec)
			if errors.As(err, new(UnderWay)) { // as cmd/onprem-infra does
				err = nil
			}
			return err
		},
		Leave: func(ctx context.Context) error { return k.Stop(ctx, spec.Name) },
	}, wake, time.Second, k.Log)
	return out.String(), err
}

// TestRegistryAwayForHours has a registry that is down for six hours, up, and down again for as
// long. It holds that there are few attempts, few log lines, one pull, and none of a present image.
func TestRegistryAwayForHours(t *testing.T) {
	const hours = 6 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		e := &awayEngine{fakeEngine: &fakeEngine{absent: true}, until: begin.Add(hours)}
		k, wake := keeper(t, e.fakeEngine)
		k.Engine = e
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		var log string
		go func() {
			var err error
			log, err = room(ctx, k, wake, keepalived)
			result <- err
		}()
		time.Sleep(hours + maxDelay + 10*time.Second)
		synctest.Wait()
		if e.pulls != 1 || len(e.process.signals) != 0 {
			t.Fatalf("%d pulls half a minute after the registry came back, want one", e.pulls)
		}
		// A container that ends while the registry is away again is started from what is there.
		e.until = time.Now().Add(hours)
		e.process.exit()
		time.Sleep(hours)
		cancel()
		if err := <-result; err != nil {
			t.Error(err)
		}
		// Each trial takes 3 s. The delays after them are 1, 2, 4, 8 and 16 s and then the cap.
		if early := len(before(e.tries, begin.Add(time.Minute))); early != 6 {
			t.Errorf("%d attempts in the first minute, want 6", early)
		}
		steady := int(hours / (maxDelay + 3*time.Second))
		if n := len(e.tries); n < steady || n > steady+6 {
			t.Errorf("%d attempts in six hours, want %d and up to six more", n, steady)
		}
		want := []string{"level=INFO msg=\"pull image\"", "level=WARN msg=apply", "level=INFO msg=\"image is here\"", "level=INFO msg=\"start container\"", "level=INFO msg=recovered", "level=INFO msg=\"start container\""}
		lines := strings.Split(strings.TrimSpace(log), "\n")
		if len(lines) != len(want) {
			t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), log)
		}
		for i := range want {
			if !strings.Contains(lines[i], want[i]) {
				t.Errorf("line %d is %s, want %s", i, lines[i], want[i])
			}
		}
		if e.pulls != 1 {
			t.Errorf("%d pulls, want one", e.pulls)
		}
	})
}

func before(times []time.Time, end time.Time) []time.Time {
	for i, at := range times {
		if !at.Before(end) {
			return times[:i]
		}
	}
	return times
}

// TestStopDuringAPull ends the loop while the engine pulls: the stop does not wait for the pull and
// is no failure.
func TestStopDuringAPull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &awayEngine{fakeEngine: &fakeEngine{absent: true}, until: time.Now().Add(time.Hour)}
		k, wake := keeper(t, e.fakeEngine)
		k.Engine = e
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begin := time.Now()
		log, err := room(ctx, k, wake, keepalived)
		if took := time.Since(begin); err != nil || took != time.Second || strings.Count(log, "\n") != 1 || !strings.Contains(log, "level=INFO msg=\"pull image\" image=example.com/keepalived:1") {
			t.Errorf("ended after %s with %v and logged %q, want after 1s and the pull", took, err, log)
		}
	})
}

// TestRegistryFaultsThatChange holds that each cause is logged once, in order.
func TestRegistryFaultsThatChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{absent: true, fail: map[string]error{"pull": errors.New("connection refused")}}
		k, wake := keeper(t, e)
		ctx, cancel := context.WithCancel(t.Context())
		var log string
		done := make(chan struct{})
		go func() {
			defer close(done)
			log, _ = room(ctx, k, wake, keepalived)
		}()
		for _, cause := range []string{"no credentials", "wrong credentials", ""} {
			time.Sleep(5*time.Minute + time.Millisecond)
			synctest.Wait()
			e.set(func() {
				e.fail = map[string]error{"pull": errors.New(cause)}
				if cause == "" {
					e.fail = nil
				}
			})
		}
		time.Sleep(time.Minute)
		cancel()
		<-done
		at := 0
		for _, want := range []string{"connection refused", "no credentials", "wrong credentials", "start container", "recovered"} {
			i := strings.Index(log[at:], want)
			if i < 0 || strings.Count(log, want) != 1 {
				t.Fatalf("want %q once and in its place:\n%s", want, log)
			}
			at += i
		}
	})
}
