package e2e

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestLongNodesComeAndGo lets Nodes appear, vanish and appear again: each change is a reload, and
// none of them drops the VIP.
func TestLongNodesComeAndGo(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	must(t, c.Kubeconfig(t.Context()))
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
		must(t, step.do())
		start := time.Now()
		eventually(t, 10*time.Second, func() error { return peers(t, c, step.peers...) })
		t.Logf("%v in force after %s", step.peers, time.Since(start).Round(10*time.Millisecond))
		time.Sleep(2 * time.Second) // a VIP that leaves by the change does so within it
	}
	unbroken(t, o)
}

// stopDrills are the faults of what the VIP is held for, on a machine that holds it while two
// masters wait.
type stopDrills struct {
	*testing.T
	*chain.Chain
	*lab.Observer
	both time.Duration // the longest that two may hold the VIP
}

// besideToday is how long a master of today, which does not send its adverts to the bootstrap
// machine, may hold the VIP beside one that hands it over: that one waits for them in vain, and the
// master's time-out began with an advert that came up to a second before.
func besideToday() time.Duration {
	takes := vrrp.MasterDown(vrrp.V2, vrrp.Compat().ControlPlane.Highest(), oneAdvert) - oneAdvert
	return vrrp.Patience(vrrp.V2, oneAdvert) - takes + 100*time.Millisecond
}

// TestLongStop takes the API and Ironic away in every way, on one machine that lives on, and gives
// them back.
func TestLongStop(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	join(t, c, o)
	d := stopDrills{t, c, o, oneAdvert}
	stop := func() { run(t, c, "systemctl", "stop", "fakeapi.service") }
	start := func() { run(t, c, "systemctl", "start", "fakeapi.service") }
	readyz := func(mode string) func() { return func() { must(t, c.Readyz(t.Context(), mode)) } }
	ironic := func(mode string) { must(t, c.Ironic(t.Context(), mode)) }

	d.stays("K-35: the API is down for 2 s", 10*time.Second, func() { stop(); time.Sleep(2 * time.Second); start() }, func() {})
	d.returns("K-35, K-36: the API is down for 6 s", 20*time.Second, func() { stop(); time.Sleep(6 * time.Second); start() })
	d.leaves("K-34: the API is down for good, the machine is preserved", 3*time.Second, 8*time.Second, stop, start)
	d.leaves("K-41: /readyz says 500, the API serves", 3*time.Second, 8*time.Second, readyz("error"), readyz("ok"))
	d.stays("K-41: the API announces its shutdown, no master serves", 8*time.Second, readyz("shutdown"), readyz("ok"))
	d.leaves("K-40: the API hangs, no master serves", 20*time.Second, 30*time.Second, readyz("hang"), readyz("ok"))
	serveMaster(t, c)
	handsOver := d
	handsOver.both = besideToday()
	handsOver.leaves("K-41: the API announces its shutdown, a master of today is ready", 3*time.Second, 8*time.Second, readyz("shutdown"), readyz("ok"))

	ironic("up")
	d.stays("K-37: the API is down for 15 s, Ironic serves", 15*time.Second, stop, func() {})
	d.leaves("K-37: then Ironic stops too", 3*time.Second, 8*time.Second, func() { ironic("down") }, start)
	ironic("up")
	ironic("hang")
	d.leaves("K-37: the API is down, Ironic hangs", 20*time.Second, 30*time.Second, stop, start)
	d.leaves("K-40: the API and Ironic hang, a master is ready", 2*time.Second, 5*time.Second, readyz("hang"), readyz("ok"))
	ironic("down")
	d.leaves("K-40: the API hangs, a master is ready", 2*time.Second, 5*time.Second, readyz("hang"), readyz("ok"))
	t.Logf("the program said:\n%s", run(t, c, "journalctl", "--no-pager", "--output=cat", "--unit="+chain.Unit, "--grep=local API"))
}

// serveMaster gives the first master an API server that is ready.
func serveMaster(t *testing.T, c *chain.Chain) {
	t.Helper()
	stop, err := c.ServeAPI(t.Context(), c.Masters[0])
	must(t, err)
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// leaves is a fault that moves the VIP to a master, neither sooner nor later. well ends it, and
// brings the VIP back.
func (d stopDrills) leaves(fault string, soonest, latest time.Duration, inject, well func()) {
	d.Helper()
	begin := time.Now()
	drill{fault: fault, inject: inject, within: latest + oneAdvert, right: func() (string, error) {
		left, taken, by, err := moved(d.Observer, begin)
		if err == nil && (left < soonest || taken > latest) {
			d.Errorf("%s: the VIP left after %s and was taken after %s, want it between %s and %s", fault, left, taken, soonest, latest)
		}
		return fmt.Sprintf("left after %.1f s, %s has it after %.1f s", left.Seconds(), by, taken.Seconds()), err
	}}.run(d.T)
	well()
	d.back(begin)
}

// returns is a fault that takes the VIP away and gives it back.
func (d stopDrills) returns(fault string, within time.Duration, inject func()) {
	d.Helper()
	begin := time.Now()
	drill{fault: fault, inject: inject, within: within, right: func() (string, error) {
		spans := spansSince(d.Observer, begin)
		away := slices.IndexFunc(spans, func(s lab.Span) bool { return !slices.Contains(s.Holders, "bootstrap") })
		if h := d.Holders(); away < 0 || !slices.Equal(h, []string{"bootstrap"}) {
			return "", fmt.Errorf("held by %v, which was away: %v", h, away >= 0)
		}
		return fmt.Sprintf("left after %.1f s, back after %.1f s", spans[away].From.Sub(begin).Seconds(), spans[len(spans)-1].From.Sub(begin).Seconds()), nil
	}}.run(d.T)
	d.back(begin)
}

// stays is a fault that does not move the VIP, for as long as that. well ends it.
func (d stopDrills) stays(fault string, long time.Duration, inject, well func()) {
	d.Helper()
	begin := time.Now()
	drill{fault: fault, inject: inject, within: long + 5*time.Second, right: func() (string, error) {
		if spans := spansSince(d.Observer, begin); len(spans) != 1 || !slices.Equal(spans[0].Holders, []string{"bootstrap"}) {
			d.Errorf("%s: the VIP moved: %v", fault, spans)
			return "MOVED", nil
		}
		if time.Since(begin) < long {
			return "", errors.New("not watched for long enough")
		}
		return fmt.Sprintf("stays for the %.0f s that were watched", long.Seconds()), nil
	}}.run(d.T)
	well()
}

// back waits until the machine has the VIP again, and says who held it since a time. The holder of
// today does not hear of the next one for up to an advertisement.
func (d stopDrills) back(begin time.Time) {
	d.Helper()
	wait(d.T, d.Observer, 20*time.Second, "bootstrap")
	time.Sleep(oneAdvert) // for how long today's holder may not know of the next one
	if err := d.Report().Err; err != nil {
		d.Error(err)
	}
	for _, s := range spansSince(d.Observer, begin) {
		d.Logf("%9.3f s held by %v", s.Length().Seconds(), s.Holders)
		if len(s.Holders) > 1 && s.Length() > d.both {
			d.Errorf("two holders for %s: %v", s.Length(), s.Holders)
		}
	}
}
