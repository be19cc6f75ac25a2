package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// long is the environment variable that asks for the tests that take minutes: `make e2e` sets it to "1".
const long = "ONPREM_INFRA_LONG"

func needLong(t *testing.T) {
	t.Helper()
	if os.Getenv(long) != "1" {
		t.Skipf("takes minutes: %s=1 asks for it", long)
	}
}

// installed is a chain up to a disk that is ready to boot, for a cluster of these IP families.
func installed(t *testing.T, families string) *chain.Chain {
	t.Helper()
	need.Root(t)
	for _, name := range []string{"debootstrap", "systemd-nspawn", "podman", "ip", "unshare", "nsenter", "make"} {
		need.Command(t, name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	c, err := chain.New(ctx, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			explain(t, c)
		}
		start := time.Now()
		if err := c.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		t.Logf("closed in %s", time.Since(start).Round(10*time.Millisecond))
	})
	if err := c.Build(ctx); err != nil {
		t.Fatal(err)
	}
	document, took, err := c.Compile(ctx, families)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ignition: %d bytes in %s", len(document), took.Round(time.Millisecond))
	if err := errors.Join(c.Machine.Ignite(ctx, document), c.Images(ctx, need.Command(t, "keepalived")), c.Equip()); err != nil {
		t.Fatal(err)
	}
	return c
}

// booted is a chain whose machine runs and holds the VIP. The observer looks at all hosts, from before the boot.
func booted(t *testing.T) (*chain.Chain, *lab.Observer) {
	t.Helper()
	c := installed(t, "ipv4")
	observer, err := lab.Observe(chain.APIVIP, 10*time.Millisecond, c.Bootstrap, c.Masters[0].Host, c.Masters[1].Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { observer.Stop() })
	if err := c.Boot(t.Context()); err != nil {
		t.Fatal(err)
	}
	up := wait(t, observer, time.Minute, "bootstrap")
	start, err := c.ExecStart(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("VIP up %s after ExecStart", up.Sub(start).Round(10*time.Millisecond))
	active(t, c, chain.Unit, "onprem-coredns.service")
	return c, observer
}

// explain prints what a failed test leaves no other trace of.
func explain(t *testing.T, c *chain.Chain) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if c.VM == nil {
		return
	}
	status := output(ctx, c, "sh", "-c", "systemctl --no-pager --failed; podman ps --all; ip -br addr; cat /etc/keepalived/keepalived.conf /run/onprem-infra/keepalived/status.json")
	t.Logf("console:\n%s\nmachine:\n%s\njournal:\n%s", c.VM.Console(), status,
		c.Journal(ctx, "onprem-install", "onprem-keepalived", "onprem-coredns", "podman", "fakeapi"))
	for _, m := range c.Masters {
		t.Logf("%s:\n%s", m.Name, m.Log())
	}
}

func output(ctx context.Context, c *chain.Chain, name string, args ...string) string {
	out, err := c.VM.Run(ctx, name, args...)
	if err != nil {
		return fmt.Sprintf("%s(%v)", out, err)
	}
	return out
}

// wait waits until exactly these hosts hold the VIP, and returns since when.
func wait(t *testing.T, o *lab.Observer, within time.Duration, holders ...string) time.Time {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	since, err := o.Wait(ctx, holders...)
	if err != nil {
		t.Fatal(err)
	}
	return since
}

// active waits until units of the machine are active.
func active(t *testing.T, c *chain.Chain, units ...string) {
	t.Helper()
	eventually(t, 30*time.Second, func() error {
		out, err := c.VM.Run(t.Context(), "systemctl", append([]string{"is-active"}, units...)...)
		if err != nil {
			return fmt.Errorf("%v: %q", units, strings.Fields(out))
		}
		return nil
	})
}

// eventually calls f until it has no error.
func eventually(t *testing.T, within time.Duration, f func() error) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %v", within, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// run runs a command in the machine that must work.
func run(t *testing.T, c *chain.Chain, name string, args ...string) string {
	t.Helper()
	out, err := c.VM.Run(t.Context(), name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// times are durations, printed as min, median and max.
type times []time.Duration

func (d times) median() time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/2]
}

func (d times) String() string {
	return fmt.Sprintf("min %d ms, median %d ms, max %d ms of %d", slices.Min(d).Milliseconds(), d.median().Milliseconds(), slices.Max(d).Milliseconds(), len(d))
}

// show prints who held the VIP and for how long.
func show(t *testing.T, r lab.Report) {
	t.Helper()
	for _, s := range r.Spans {
		t.Logf("%9.3f s held by %v", s.Length().Seconds(), s.Holders)
	}
	t.Logf("%d samples, the longest distance between two was %s", r.Samples, r.Slowest.Round(time.Millisecond))
}
