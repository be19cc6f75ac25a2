package e2e

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestLongKilled kills our program, keepalived's container, and both, with two masters that wait.
func TestLongKilled(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	join(t, c, o)
	programKilled(t, c, o)
	for _, tt := range []struct{ fault, script string }{
		{fault: "keepalived's container killed (SIGKILL)", script: "podman kill --signal KILL onprem-keepalived"},
		{fault: "our program and the container killed (SIGKILL)",
			script: "kill -9 $(systemctl show --property=MainPID --value " + chain.Unit + "); podman kill --signal KILL onprem-keepalived"},
	} {
		var since time.Time
		drill{
			fault:  tt.fault,
			inject: func() { since = time.Now(); sh(t, c, tt.script) },
			within: 30 * time.Second,
			right: func() (string, error) {
				err := holders(o, "bootstrap")
				if until(o, since).IsZero() {
					err = errors.Join(err, errors.New("the stale VIP has never left"))
				}
				return story(o, since), err
			},
		}.run(t)
		// What a killed keepalived leaves in the kernel answers to nobody, and must not stay for as
		// long as another one needs to start.
		if stale := until(o, since).Sub(since); stale > 3*time.Second {
			t.Errorf("%s: the stale VIP was gone after %s", tt.fault, stale)
		}
		active(t, c, chain.Unit)
	}
	noDoubles(t, o, time.Time{})
	serves(t, c)
}

// programKilled kills our program: the daemon and the VIP live on, and the program that systemd
// starts in its place adopts them. The masters hear keepalived all the time: the new program knows
// them before the API has told of them.
func programKilled(t *testing.T, c *chain.Chain, o *lab.Observer) {
	daemon, program := containerPID(t, c, "onprem-keepalived"), property(t, c, chain.Unit, "MainPID")
	var since time.Time
	drill{
		fault:  "our program killed (SIGKILL)",
		inject: func() { since = time.Now(); run(t, c, "kill", "-9", program) },
		within: 10 * time.Second,
		right: func() (string, error) {
			if now := property(t, c, chain.Unit, "MainPID"); now == program || now == "0" {
				return "", fmt.Errorf("the program's pid is %s", now)
			}
			_, err := c.VM.Run(t.Context(), "systemctl", "is-active", chain.Unit)
			return "daemon and VIP live on, adopted by its successor; " + story(o, since), err
		},
	}.run(t)
	time.Sleep(6 * time.Second) // a master that heard nothing would have taken over
	if err := peers(t, c, "192.0.2.21", "192.0.2.22"); err != nil {
		t.Error(err)
	}
	if now := containerPID(t, c, "onprem-keepalived"); now != daemon {
		t.Errorf("keepalived was %s and is %s", daemon, now)
	}
	unbroken(t, o)
	// The adopted daemon is not only looked at: it still does what the program says.
	if gone := stopUnit(t, c); gone > 200*time.Millisecond {
		t.Errorf("the adopted VIP was gone after %s", gone)
	}
	run(t, c, "systemctl", "start", "--no-block", chain.Unit)
	wait(t, o, 20*time.Second, "bootstrap")
	active(t, c, chain.Unit)
}

// until is when the bootstrap machine first did not hold the VIP any more.
func until(o *lab.Observer, since time.Time) time.Time {
	for _, s := range o.Report().Spans {
		if s.To.After(since) && !slices.Contains(s.Holders, "bootstrap") {
			return s.From
		}
	}
	return time.Time{}
}

// containerPID is a container's first process, 0 when it does not run or is not there.
func containerPID(t *testing.T, c *chain.Chain, name string) string {
	t.Helper()
	return sh(t, c, "podman inspect --format '{{.State.Pid}}' "+name+" 2>/dev/null || echo 0")
}
