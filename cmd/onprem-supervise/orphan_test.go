package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/supervise/orphans"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// outlive runs a monitor's part for the end of a supervisor, on its host.
func outlive(t *testing.T, s *supervisor, host netns.Namespace) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- host.In(func() error {
			return orphans.Outlive(ctx, s.dir,
				slog.New(slog.NewTextHandler(io.MultiWriter(s.log, t.Output()), nil)))
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestOutlived kills a supervisor and its keepalived, and starts no other: the VIPs stay until
// another router has them, and have one holder within a second of the kill. A machine that stalls
// for parts of a second delays any of the three processes, so one of three tries is enough.
func TestOutlived(t *testing.T) {
	t.Parallel()
	for range 3 {
		taken, gone := outlived(t)
		t.Logf("taken over %v after the kill, and gone after %v", taken, gone)
		if gone <= time.Second {
			return
		}
	}
	t.Error("two holders for longer than a second, three times of three")
}

// outlived returns how long after the kill another router had the VIPs, and this host had not.
func outlived(t *testing.T) (taken, gone time.Duration) {
	l, holder, _ := pair(t, 10)
	outlive(t, holder, l.host)
	here, there := l.watch(t), watch(t, l.neighbour)
	here.until(t, "with both VIPs", 10*time.Second, 2)
	// longer than a VIP outlives its supervisor: one that lives is none
	time.Sleep(500 * time.Millisecond)
	if n := here.low(); n != 2 {
		t.Fatalf("%d VIPs beside a supervisor that lives", n)
	}
	begin := time.Now()
	holder.cmd.Process.Kill() // the first process of its process namespace: keepalived goes with it
	there.until(t, "taken over", 10*time.Second, 2)
	if n := here.low(); n != 2 {
		t.Errorf("the VIPs left before another router had them: %d", n)
	}
	taken = time.Since(begin)
	here.until(t, "without the VIPs", 5*time.Second, 0)
	return taken, time.Since(begin)
}

// TestOutlivedAlone has a router without peers: its VIPs stay.
func TestOutlivedAlone(t *testing.T) {
	t.Parallel()
	l, held, s := newHolder(t)
	outlive(t, s, l.host)
	s.cmd.Process.Kill()
	<-s.ended
	time.Sleep(1500 * time.Millisecond) // three times as long as another one would take
	if n := held.low(); n != 2 {
		t.Errorf("%d VIPs are left of 2, and no other host holds them", n)
	}
	if !slices.ContainsFunc(l.addresses(t), func(a string) bool { return a == vip4+"/32" }) {
		t.Error("the VIP has gone")
	}
	if _, err := os.Stat(s.path("notify.fifo")); err != nil {
		t.Fatal(err)
	}
}

// TestOutlived_Refused holds that the monitor goes by what keepalived runs too: the configuration
// that it has proposed since, without instances of the VIPs, was refused. A supervisor that is
// killed leaves no second holder.
func TestOutlived_Refused(t *testing.T) {
	t.Parallel()
	l, holder, _ := pair(t, 10)
	outlive(t, holder, l.host)
	here, there := l.watch(t), watch(t, l.neighbour)
	here.until(t, "with both VIPs", 10*time.Second, 2)
	bad := holder.propose(strings.NewReplacer("demo_API", "demo_INGRESS", "ens3", "ens9",
		vip4+"/", "192.0.2.6/", vip6+"/", "2001:db8::6/").Replace(
		router(holder.dir, 10, 70, "0.1", "192.0.2.11", "2001:db8::11")))
	holder.until("refused", 10*time.Second, func(st supervised.Status) bool {
		return st.Refused != nil && st.Refused.Candidate == bad
	})
	holder.cmd.Process.Kill()
	there.until(t, "taken over", 10*time.Second, 2)
	here.until(t, "without the VIPs", 5*time.Second, 0)
}
