package nodeip

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// TestTentative holds N-05 in both ways of choosing: an IPv6 address that can be bound at the third
// trial is taken then, a second apart, and what an earlier trial chose is forgotten.
func TestTentative(t *testing.T) {
	six := netip.MustParseAddr("2001:db8::10")
	for name, vips := range map[string][]string{"by a VIP": {"2001:db8::5"}, "by the default route": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := newMemory(routed(link(2, "ens3", "2001:db8::10/64")))
				host.unbound[six] = 2
				logger, logged := log(t)
				start := time.Now()
				want, err := New(metal(vips...), host, true, logger).Set(t.Context())
				if err != nil || !slices.Equal(want.Choice.Addresses, []netip.Addr{six}) || host.files[Primary] != "2001:db8::10" {
					t.Fatalf("%+v, %v", want, err)
				}
				if took := time.Since(start); took != 2*time.Second || host.binds != 3 {
					t.Errorf("bound at trial %d after %v, want the third after 2s", host.binds, took)
				}
				if lines := strings.Count(logged.String(), "try again"); lines != 1 {
					t.Errorf("%d lines: %s", lines, logged)
				}
			})
		})
	}
}

// TestTentativeChange holds the second half of N-05: each trial reads the host anew.
func TestTentativeChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newMemory(routed(link(2, "ens3", "2001:db8::10/64")))
		host.unbound[netip.MustParseAddr("2001:db8::10")] = -1
		logger, _ := log(t)
		go func() {
			time.Sleep(5500 * time.Millisecond) // the address was a duplicate and another one is given
			host.set(func() { host.links = routed(link(2, "ens3", "2001:db8::11/64")) })
		}()
		want, err := New(metal(), host, true, logger).Set(t.Context())
		if err != nil || host.files[Primary] != "2001:db8::11" {
			t.Fatalf("%+v, %v", want, err)
		}
	})
}

// TestTentativeSecond holds that the second family's IPv6 address is waited for too, and that
// without --retry-on-failure the answer is no.
func TestTentativeSecond(t *testing.T) {
	host := newMemory(routed(link(2, "ens3", "192.0.2.10/24", "2001:db8::10/64")))
	host.unbound[netip.MustParseAddr("2001:db8::10")] = -1
	logger, _ := log(t)
	_, err := New(metal("192.0.2.5"), host, false, logger).Set(t.Context())
	if !errors.As(err, new(Unusable)) || len(host.files) > 0 || !strings.Contains(err.Error(), "2001:db8::10 is chosen and cannot be used yet") {
		t.Errorf("%v, wrote %q", err, host.files)
	}
}

// TestBackOff holds N-11: 2, 4, 8 ... 300 seconds between trials, and a bounded number of lines
// while nothing changes.
func TestBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trials := &counting{memory: newMemory(addr.Snapshot{})}
		logger, logged := log(t)
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		start := time.Now()
		_, err := New(metal("192.0.2.5"), trials, true, logger).Set(ctx)
		if !errors.As(err, new(Unusable)) {
			t.Fatalf("%v", err)
		}
		var pauses []time.Duration
		for i := 1; i < 11; i++ {
			pauses = append(pauses, trials.at[i].Sub(trials.at[i-1]))
		}
		s := time.Second
		if want := []time.Duration{2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 256 * s, 300 * s, 300 * s}; !slices.Equal(pauses, want) {
			t.Errorf("pauses %v, want %v", pauses, want)
		}
		if lines := strings.Count(logged.String(), "\n"); lines > 300 || lines < 200 || time.Since(start) < 24*time.Hour {
			t.Errorf("%d lines in a day of %v", lines, time.Since(start))
		}
	})
}

// TestTentativeForGood holds N-11 for the trial of each second: an address that can never be bound
// is logged once.
func TestTentativeForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newMemory(routed(link(2, "ens3", "2001:db8::10/64")))
		host.unbound[netip.MustParseAddr("2001:db8::10")] = -1
		logger, logged := log(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, _ = New(metal(), host, true, logger).Set(ctx)
		if lines := strings.Count(logged.String(), "\n"); lines != 1 || host.binds < 3000 {
			t.Errorf("%d lines in %d trials: %s", lines, host.binds, logged)
		}
	})
}

// counting remembers when the host was read.
type counting struct {
	*memory
	at []time.Time
}

func (c *counting) Links() (addr.Snapshot, error) {
	c.at = append(c.at, time.Now())
	return c.memory.Links()
}

// TestHostFault holds that a host which cannot be read is tried again, and is another error than one
// without an address.
func TestHostFault(t *testing.T) {
	host := newMemory(addr.Snapshot{})
	host.linkErr = errors.New("netlink is shut")
	logger, _ := log(t)
	_, err := New(metal("192.0.2.5"), host, false, logger).Set(t.Context())
	if err == nil || errors.As(err, new(Unusable)) {
		t.Errorf("%v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		go func() {
			time.Sleep(time.Second)
			host.set(func() { host.linkErr, host.links = nil, routed(link(2, "ens3", "192.0.2.10/24")) })
		}()
		if _, err := New(metal("192.0.2.5"), host, true, logger).Set(t.Context()); err != nil || host.files[Primary] != "192.0.2.10" {
			t.Errorf("%v, %q", err, host.files)
		}
	})
}

// TestShow holds that showing writes nothing and ignores what is written.
func TestShow(t *testing.T) {
	host := newMemory(routed(link(2, "ens3", "192.0.2.10/24")))
	host.files[Primary] = "192.0.2.77"
	logger, _ := log(t)
	want, err := New(metal("192.0.2.5"), host, false, logger).Show(t.Context())
	if err != nil || want.Choice.Addresses[0] != netip.MustParseAddr("192.0.2.10") || len(host.order) > 0 {
		t.Errorf("%+v, %v, wrote %v", want, err, host.order)
	}
}
