package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestLongTimes measures both ends of the VIP's life, ten times: from ExecStart to the address, and from the stop to its absence.
func TestLongTimes(t *testing.T) {
	needLong(t)
	c, _ := booted(t)
	var up, gone times
	for range 10 {
		gone = append(gone, stopUnit(t, c))
		up = append(up, startUnit(t, c))
	}
	t.Logf("VIP up after ExecStart: %s", up)
	t.Logf("VIP gone after systemctl stop: %s", gone)
	if up.median() > 5*time.Second {
		t.Errorf("VIP up: %s, want a median of 5 s", up)
	}
	if slices.Max(gone) > 200*time.Millisecond {
		t.Errorf("VIP gone: %s, want 200 ms", gone)
	}
}

func startUnit(t *testing.T, c *chain.Chain) time.Duration {
	t.Helper()
	up, err := c.StartVIP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return up
}

// TestLongProgramKilled kills our program: the daemon and the VIP live on, and the program that systemd starts in its place adopts them.
func TestLongProgramKilled(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	daemon, program := daemonPID(t, c), mainPID(t, c)
	run(t, c, "kill", "-9", program)
	eventually(t, 10*time.Second, func() error {
		if now := mainPID(t, c); now == program || now == "0" {
			return fmt.Errorf("the program's pid is %s", now)
		}
		return nil
	})
	active(t, c, chain.Unit)
	time.Sleep(3 * time.Second)
	if now := daemonPID(t, c); now != daemon {
		t.Errorf("keepalived was %s and is %s", daemon, now)
	}
	unbroken(t, o)
	// The adopted daemon is not only looked at: it still does what the program says.
	if gone := stopUnit(t, c); gone > 200*time.Millisecond {
		t.Errorf("the adopted VIP was gone after %s", gone)
	}
}

// TestLongContainerKilled kills every process of keepalived's container, which leaves the VIP in the kernel with nobody to answer for it.
func TestLongContainerKilled(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	run(t, c, "sh", "-euc", "podman kill --signal KILL onprem-keepalived")
	killed := time.Now()
	wait(t, o, 5*time.Second)
	t.Logf("the stale VIP was gone after %s", time.Since(killed).Round(time.Millisecond))
	since := wait(t, o, 20*time.Second, "bootstrap")
	t.Logf("the VIP was back after %s", since.Sub(killed).Round(time.Millisecond))
	show(t, o.Report())
}

// TestLongAllKilled kills our program and the container in one go.
func TestLongAllKilled(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	run(t, c, "sh", "-euc", "kill -9 "+mainPID(t, c)+"; podman kill --signal KILL onprem-keepalived")
	wait(t, o, 10*time.Second)
	wait(t, o, 20*time.Second, "bootstrap")
	active(t, c, chain.Unit)
	show(t, o.Report())
}

// TestLongNodesComeAndGo lets Nodes appear, vanish and appear again: each change is a reload, and none of them drops the VIP.
func TestLongNodesComeAndGo(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	if err := c.Kubeconfig(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, b := c.Masters[0], c.Masters[1]
	for _, step := range []struct {
		do    func() error
		peers []string
	}{
		{do: func() error { return c.Register(t.Context(), a) }, peers: []string{"192.0.2.21"}},
		{do: func() error { return c.Register(t.Context(), b) }, peers: []string{"192.0.2.21", "192.0.2.22"}},
		{do: func() error { return c.Deregister(t.Context(), a) }, peers: []string{"192.0.2.22"}},
		{do: func() error { return c.Deregister(t.Context(), b) }, peers: []string{"224.0.0.18"}},
		{do: func() error { return c.Register(t.Context(), a) }, peers: []string{"192.0.2.21"}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		eventually(t, 10*time.Second, func() error { return peers(t, c, step.peers...) })
		t.Logf("%v in force after %s", step.peers, time.Since(start).Round(10*time.Millisecond))
		time.Sleep(2 * time.Second)
	}
	unbroken(t, o)
}

// TestLongAPIGone takes the API away for good, with two masters that wait: the VIP goes to one of them about 5 s later, and comes back
// with the API.
func TestLongAPIGone(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	join(t, c, o)
	run(t, c, "systemctl", "stop", "fakeapi.service")
	stopped := time.Now()
	eventually(t, 20*time.Second, func() error {
		if h := o.Holders(); slices.Contains(h, "bootstrap") {
			return fmt.Errorf("held by %v", h)
		}
		return nil
	})
	took := time.Since(stopped)
	t.Logf("the VIP left %s after the API", took.Round(100*time.Millisecond))
	if took < 3*time.Second || took > 8*time.Second {
		t.Errorf("the VIP left after %s: a restart of the API takes less than 3 s, masters may wait no longer than 8 s", took)
	}
	eventually(t, 10*time.Second, func() error {
		if h := o.Holders(); len(h) != 1 {
			return fmt.Errorf("held by %v", h)
		}
		return nil
	})
	run(t, c, "systemctl", "start", "fakeapi.service")
	wait(t, o, 20*time.Second, "bootstrap")
	show(t, o.Report())
	for _, d := range o.Report().Doubles() {
		if d.Length() > oneAdvert {
			t.Errorf("two holders for %s: %v", d.Length(), d.Holders)
		}
	}
}

// TestLongAPIRestarts keeps the VIP where it is: through an announced shutdown, and through an outage of two seconds.
func TestLongAPIRestarts(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	join(t, c, o)
	if err := c.Readyz(t.Context(), "shutdown"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Second)
	if err := c.Readyz(t.Context(), "ok"); err != nil {
		t.Fatal(err)
	}
	run(t, c, "systemctl", "stop", "fakeapi.service")
	time.Sleep(2 * time.Second)
	run(t, c, "systemctl", "start", "fakeapi.service")
	time.Sleep(6 * time.Second)
	unbroken(t, o)
}

// unbroken says that the bootstrap machine alone has held the VIP since it first did.
func unbroken(t *testing.T, o *lab.Observer) {
	t.Helper()
	r := o.Report()
	if r.Err != nil || len(r.Gaps()) > 0 || len(r.Doubles()) > 0 || !slices.Equal(o.Holders(), []string{"bootstrap"}) {
		t.Errorf("the VIP was not always here (%v)", r.Err)
		show(t, r)
	}
}

func mainPID(t *testing.T, c *chain.Chain) string {
	t.Helper()
	return strings.TrimSpace(run(t, c, "systemctl", "show", "--property=MainPID", "--value", chain.Unit))
}

// daemonPID is the pid of keepalived's container.
func daemonPID(t *testing.T, c *chain.Chain) string {
	t.Helper()
	return strings.TrimSpace(run(t, c, "podman", "inspect", "--format", "{{.State.Pid}}", "onprem-keepalived"))
}
