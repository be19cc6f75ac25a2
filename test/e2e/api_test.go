package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

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
		{do: func() error { return c.Deregister(t.Context(), b) }, peers: []string{"192.0.2.22"}}, // the last one is never forgotten
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

// TestLongAPIHangs has an API that takes connections and never answers: each probe costs its whole budget of 5 s, and five of them are the
// same verdict as five refusals.
func TestLongAPIHangs(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	join(t, c, o)
	if err := c.Readyz(t.Context(), "hang"); err != nil {
		t.Fatal(err)
	}
	hung := time.Now()
	eventually(t, time.Minute, func() error {
		if h := o.Holders(); slices.Contains(h, "bootstrap") {
			return fmt.Errorf("held by %v", h)
		}
		return nil
	})
	took := time.Since(hung)
	t.Logf("the VIP left %s after the API hung", took.Round(100*time.Millisecond))
	if took < 20*time.Second || took > 35*time.Second {
		t.Errorf("the VIP left after %s, want 25 s or little more", took)
	}
	if err := c.Readyz(t.Context(), "ok"); err != nil {
		t.Fatal(err)
	}
	wait(t, o, 20*time.Second, "bootstrap")
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
