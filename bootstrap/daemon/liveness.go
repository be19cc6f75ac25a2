package daemon

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Probe checks the liveness of a container's first process; nil means that it has worked since
// the last call. It is called once an interval, must return when its context ends, and reports
// the same failure with the same text.
type Probe func(ctx context.Context, process Process) error

// UsesCPU is the probe of a process that works in each interval: it passes if the process has used
// processor time since the last call. The first call for a process fails, as nothing is known yet.
func UsesCPU() Probe {
	var whose Process
	var before time.Duration
	return func(_ context.Context, process Process) error {
		cpu, err := process.CPU()
		if err == nil && (process != whose || cpu == before) {
			whose, before = process, cpu
			return errors.New("it uses no processor time")
		}
		before = cpu // after an error the process has exited, which its watch reports
		return nil
	}
}

// Patient wraps a probe: until a process has passed once, failures count as passes, but no longer
// than first. So a process that starts slowly is not killed, which would only start it again.
func Patient(first time.Duration, probe Probe) Probe {
	var whose Process
	var since time.Time
	var passed bool
	return func(ctx context.Context, process Process) error {
		if process != whose {
			whose, since, passed = process, time.Now(), false
		}
		err := probe(ctx, process)
		if passed = passed || err == nil; !passed && time.Since(since) < first {
			return nil
		}
		return err
	}
}

// After two missed intervals the engine is asked whether the container is paused. After some more
// the process gets SIGCONT, which is harmless; in the end it is killed. Intervals are counted, not
// time: after a suspend, or on a busy machine, this program has not run either.
//
// The second probe follows the first failed one after half an interval. A paused keepalived neither
// advertises its VIP nor releases it, so a backup takes the VIP over 3.6 s after the last advert.
// That is 2.6 s after the pause if the last advert was a whole interval old. The pause is detected
// within 2.5 s, so if the engine answers at once there is one holder. If the engine must be started
// first, or the machine is busy, there may be dual holders until keepalived continues.
const (
	probeInterval = time.Second
	jitter        = probeInterval / 10 // by how much a round may come early
	retryDelay    = probeInterval / 2  // more than the drift between the two programs
	inspectAfter  = 2
	resumeAfter   = 5
	// killAfter is more than the 10 s for which onprem-supervise may wait for keepalived's test of
	// a configuration.
	killAfter = 12
	// startAllowance is how many more intervals a container may miss before its first success. A
	// machine that pulls images is slow, and a container killed for slowness would be killed again.
	startAllowance = 30
)

// liveness is the probe's state for one container.
type liveness struct {
	next      time.Time // of the probe
	missed    int       // intervals without success
	allowance int       // intervals that it may miss beyond killAfter
	err       error     // what was found and done; nil again after the next success
}

// checkLiveness probes the container if a probe is due, and handles a failure. The error stays
// until the probe passes again.
func (k *Keeper) checkLiveness(ctx context.Context, name string) error {
	now := time.Now()
	if k.Probe == nil || now.Before(k.liveness.next) {
		return k.liveness.err
	}
	k.liveness.next = now.Add(probeInterval - jitter)
	why := k.Probe(ctx, k.running.process)
	switch {
	case ctx.Err() != nil, !k.Running(): // the result proves nothing
		return k.liveness.err
	case why == nil:
		k.liveness = liveness{next: k.liveness.next}
		return nil
	}
	if k.liveness.missed++; k.liveness.missed < inspectAfter {
		k.liveness.next = now.Add(retryDelay)
		time.AfterFunc(retryDelay, func() { loop.Wake(k.Wake) })
		return k.liveness.err
	}
	k.liveness.err = k.handleFailedProbe(ctx, name, why)
	return k.liveness.err
}

// handleFailedProbe unpauses or continues a container, so that it keeps its VIP, and kills it only
// if that does not help. The next round starts another one; so nothing is killed while the engine
// does not answer. Before resumeAfter an unpaused container is left alone, without a report.
func (k *Keeper) handleFailedProbe(ctx context.Context, name string, why error) error {
	failure := fmt.Errorf("container %s fails its liveness probe (%w)", name, why)
	state, found, err := k.Engine.Inspect(ctx, name)
	if err == nil && found && ours(state) && state.Paused {
		if err := k.Engine.Unpause(ctx, name); err != nil {
			return fmt.Errorf("container %s is paused: %w", name, err)
		}
		k.liveness.missed = 0
		return fmt.Errorf("container %s was paused and goes on", name)
	}
	switch {
	case k.liveness.missed < resumeAfter:
		return k.liveness.err
	case err != nil:
		return fmt.Errorf("%w; inspect it: %w", failure, err)
	}
	signal, done := syscall.SIGCONT, "sent it SIGCONT"
	if k.liveness.missed >= killAfter+k.liveness.allowance {
		// A person attached the debugger, and the VIP stays served: keepalived advertises without
		// its parent. (onprem-supervise does kill a keepalived under a debugger: a backup takes its
		// VIP, so there would be dual holders.)
		if tracer, err := k.running.process.Tracer(); err == nil && tracer != 0 {
			return fmt.Errorf("%w: left alone while process %d traces it", failure, tracer)
		}
		signal, done = syscall.SIGKILL, "killed it"
	}
	if err := k.Signal(signal); err != nil {
		return fmt.Errorf("%w: %w", failure, err)
	}
	return fmt.Errorf("%w: %s", failure, done)
}
