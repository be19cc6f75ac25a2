package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// reboots is a machine that holds the VIP, while two masters wait, and ends again and again.
type reboots struct {
	*testing.T
	*chain.Chain
	o     *lab.Observer
	begin time.Time // of the last fault
}

// TestLongReboot switches the machine off in order, and takes its power away, and lets it boot each
// time.
func TestLongReboot(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	join(t, c, o)
	r := &reboots{T: t, Chain: c, o: o}
	r.poweredOff()
	r.boots("booted again after it was powered off", c.Boot)
	r.powerCut()
	r.boots("booted again after the power cut", c.RestorePower)
	show(t, o.Report())
}

// poweredOff holds K-59: the VIP leaves before anything else stops, and a master has it soon after.
func (r *reboots) poweredOff() {
	events, stop, err := r.Bootstrap.Watch(chain.APIVIP)
	must(r.T, err)
	defer stop()
	halted := make(chan error, 1)
	drill{
		fault: "powered off in order while VIP holder",
		inject: func() {
			r.begin = time.Now()
			go func() { halted <- r.VM.Halt(r.Context()) }()
		},
		within: 10 * time.Second,
		right: func() (string, error) {
			left, taken, by, err := moved(r.o, r.begin)
			if dark := taken - left; err == nil && dark >= time.Second {
				r.Errorf("nobody had the VIP for %s, want less than 1 s", dark)
			}
			return fmt.Sprintf("left after %d ms, %s has it %.2f s later", left.Milliseconds(), by, (taken - left).Seconds()), err
		},
	}.run(r.T)
	must(r.T, <-halted)
	r.Logf("the machine was off after %s", time.Since(r.begin).Round(10*time.Millisecond))
	select {
	case e := <-events:
		if gone := e.At.Sub(r.begin); e.Added || gone > 200*time.Millisecond {
			r.Errorf("the VIP was gone after %s, want 200 ms", gone)
		}
	default:
		r.Error("the machine is off, and nobody took the VIP from it")
	}
}

// powerCut ends everything at once: what podman and our programs wrote stays as it was, and tells
// of containers that run.
func (r *reboots) powerCut() {
	policy := vrrp.Compat().ControlPlane
	down := vrrp.MasterDown(vrrp.CompatTiming().Version(chain.APIVIP), policy.Highest(), oneAdvert)
	drill{
		fault:  "power cut while VIP holder",
		inject: func() { r.begin = time.Now(); must(r.T, r.CutPower()) },
		within: 10 * time.Second,
		right: func() (string, error) {
			_, taken, by, err := moved(r.o, r.begin)
			if err == nil && taken > down+500*time.Millisecond {
				r.Errorf("a master had the VIP after %s, want a master-down time of %s", taken, down)
			}
			return fmt.Sprintf("%s has it after %.2f s", by, taken.Seconds()), err
		},
	}.run(r.T)
}

// boots switches the machine on while a master has the VIP. Everything is in place, and nothing of
// the former life is in the way.
func (r *reboots) boots(fault string, boot func(context.Context) error) {
	const units = chain.Unit + " " + dnsUnit + " " + installUnit
	drill{
		fault:  fault,
		inject: func() { r.begin = time.Now(); must(r.T, boot(r.Context())) },
		within: time.Minute,
		right: func() (string, error) {
			if out, err := r.VM.Run(r.Context(), "systemctl", append([]string{"is-active"}, strings.Fields(units)...)...); err != nil {
				return "", fmt.Errorf("units are %q", strings.Fields(out))
			}
			return story(r.o, r.begin), holders(r.o, "bootstrap")
		},
	}.run(r.T)
	noDoubles(r.T, r.o, r.begin)
	logged := sh(r.T, r.Chain, "journalctl --no-pager --output=cat --boot --unit="+strings.Join(strings.Fields(units), " --unit="))
	for _, word := range []string{"pull", "retrying: ", "held by another host", "not ours", "level=WARN", "level=ERROR"} {
		if strings.Contains(logged, word) {
			r.Errorf("%s: somebody said %q:\n%s", fault, word, logged)
		}
	}
	for _, which := range []string{"--all", "--filter status=running"} {
		names := strings.Fields(sh(r.T, r.Chain, "podman ps --format '{{.Names}}' "+which))
		if slices.Sort(names); !slices.Equal(names, []string{"onprem-coredns", "onprem-keepalived"}) {
			r.Errorf("%s: containers %s: %v", fault, which, names)
		}
	}
	for line := range strings.Lines(logged) {
		if strings.Contains(line, "container") {
			r.Log(strings.TrimSpace(line))
		}
	}
	if err := peers(r.T, r.Chain, "192.0.2.21", "192.0.2.22"); err != nil {
		r.Error(err)
	}
	serves(r.T, r.Chain)
	resolves(r.T, r.Chain)
}
