package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// The units beside chain.Unit.
const (
	dnsUnit     = "onprem-coredns.service"
	installUnit = "onprem-install.service"
)

// long is the environment variable that asks for the tests that take minutes: `make e2e` sets it to
// "1".
const long = "ONPREM_INFRA_LONG"

func needLong(t *testing.T) {
	t.Helper()
	if os.Getenv(long) != "1" {
		t.Skipf("takes minutes: %s=1 asks for it", long)
	}
}

// fresh is a chain with our programs and its images made, on a machine with nothing else. It closes
// with the test.
func fresh(t *testing.T, programs ...string) *chain.Chain {
	t.Helper()
	need.Root(t)
	for _, name := range append(programs, "debootstrap", "systemd-nspawn", "podman", "ip", "unshare", "nsenter", "make") {
		need.Command(t, name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	c, err := chain.New(ctx, slog.New(slog.NewTextHandler(t.Output(), nil)))
	must(t, err)
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
	must(t, c.Build(ctx))
	must(t, c.Images(ctx, need.Command(t, "keepalived")))
	return c
}

// ready has Ignition write what a cluster of these IP families wants to the machine's disk: it can
// boot.
func ready(t *testing.T, c *chain.Chain, families string) {
	t.Helper()
	document, took, err := c.Compile(t.Context(), families)
	must(t, err)
	t.Logf("ignition: %d bytes in %s", len(document), took.Round(time.Millisecond))
	must(t, c.Machine.Ignite(t.Context(), document), c.Equip())
}

// installed is a chain up to a disk that is ready to boot, for a cluster of these IP families.
func installed(t *testing.T, families string) *chain.Chain {
	t.Helper()
	c := fresh(t)
	ready(t, c, families)
	return c
}

// observe looks at who of the hosts holds a VIP, until the test ends.
func observe(t *testing.T, vip netip.Addr, hosts ...*lab.Host) *lab.Observer {
	t.Helper()
	o, err := lab.Observe(vip, 10*time.Millisecond, hosts...)
	must(t, err)
	t.Cleanup(func() { o.Stop() })
	return o
}

// booted is a chain whose machine runs and holds the VIP. The observer looks at all hosts, from
// before the boot.
func booted(t *testing.T) (*chain.Chain, *lab.Observer) {
	t.Helper()
	c := installed(t, "ipv4")
	observer := observe(t, chain.APIVIP, c.Bootstrap, c.Masters[0].Host, c.Masters[1].Host)
	must(t, c.Boot(t.Context()))
	up := wait(t, observer, time.Minute, "bootstrap")
	start, err := c.ExecStart(t.Context())
	must(t, err)
	t.Logf("VIP up %s after ExecStart", up.Sub(start).Round(10*time.Millisecond))
	active(t, c, chain.Unit, dnsUnit)
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

// sh runs a script in the machine that must work, and returns what it prints.
func sh(t *testing.T, c *chain.Chain, script string) string {
	t.Helper()
	return strings.TrimSpace(run(t, c, "sh", "-euc", script))
}

// property is what systemd says of a unit.
func property(t *testing.T, c *chain.Chain, unit, name string) string {
	t.Helper()
	return strings.TrimSpace(run(t, c, "systemctl", "show", "--property="+name, "--value", unit))
}

// must ends the test on an error of its own doing.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
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
