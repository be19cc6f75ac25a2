package provision

import (
	"errors"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// Deadline is how long a step may take.
type Deadline struct {
	Step    string `json:"step"`
	Seconds int    `json:"seconds"`
	Why     string `json:"why"`
}

// Timers are the times of an installation that have to fit into each other.
type Timers struct {
	PXE      time.Duration // firmware asks for an address, and then boots from its disk
	Retry    time.Duration // a host whose ramdisk does not report is booted again
	CallBack time.Duration // until its ramdisk reports
	Install  time.Duration // of the control plane
	Handover time.Duration // no DHCP server answers
	Lease    time.Duration // 0 if none is of ours
}

// Boots is how often a host boots until its ramdisk reports, at most: a boot may be lost. The phase
// machine counts by it too.
const Boots = 3

// defaultTimers are ours, but for those of firmware and of OpenShift's installer. Ironic's own
// call-back of 80 minutes is longer than the installer waits.
func defaultTimers() Timers {
	return Timers{PXE: (4 + 8 + 16 + 32) * time.Second, Retry: 10 * time.Minute,
		CallBack: 30 * time.Minute, Install: time.Hour, Handover: grammar.Handover}
}

// Fit is an error if a step can outlast what it is a part of.
func (t Timers) Fit() error {
	var errs []error
	outlasts := func(step string, inner time.Duration, what string, outer time.Duration) {
		errs = append(errs, fmt.Errorf("%s (%s) do not fit into %s (%s): choose shorter ones, or "+
			"a longer time", step, inner, what, outer))
	}
	within := func(step string, inner time.Duration, what string, outer time.Duration) {
		if inner >= outer {
			outlasts(step, inner, what, outer)
		}
	}
	within("the firmware's DHCP retries", t.PXE, "the time to the next boot", t.Retry)
	// The first boot begins with the wait, so that the last one may end with it.
	if Boots*t.Retry > t.CallBack {
		outlasts(fmt.Sprintf("%d boots", Boots), Boots*t.Retry, "the time to the call-back",
			t.CallBack)
	}
	within("the waits for a call-back", t.CallBack, "the installation", t.Install)
	if t.Lease != 0 {
		within("the waits of the handover", t.Handover, "a lease", t.Lease)
	}
	return errors.Join(errs...)
}

func (t Timers) deadlines() []Deadline {
	all := []Deadline{
		{"pxe", seconds(t.PXE), "firmware asks for an address after 4, 8, 16 and 32 s, and then " +
			"boots from its disk"},
		{"boot-retry", seconds(t.Retry), "a host whose ramdisk has not reported is booted again"},
		{"call-back", seconds(t.CallBack), fmt.Sprintf("%d boots fit into it", Boots)},
		{"install", seconds(t.Install), "the installer waits so long for the control plane"},
	}
	if t.Lease != 0 {
		all = append(all,
			Deadline{"handover", seconds(t.Handover), "no DHCP server may answer for so long"},
			Deadline{"lease", seconds(t.Lease), "a host keeps its address over the handover"})
	}
	return all
}

func seconds(d time.Duration) int { return int(d.Seconds()) }
