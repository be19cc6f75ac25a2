package daemon

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Sign asks a container's first process for a sign of life: nil says that it has given one since
// the last time. It is asked once a beat, must return when its context ends, and says the same in
// the same words.
type Sign func(ctx context.Context, process Process) error

// Works is the sign of a process that has something to do in each beat: it has used processor time
// since the last time. The first look at a process only sees where it stands.
func Works() Sign {
	var whose Process
	var before time.Duration
	return func(_ context.Context, process Process) error {
		cpu, err := process.CPU()
		if err == nil && (process != whose || cpu == before) {
			whose, before = process, cpu
			return errors.New("it uses no processor time")
		}
		before = cpu // what has no clock has ended, and its end is noticed
		return nil
	}
}

// A container that has missed two beats may be paused, and the engine is asked; one that has missed
// some more is woken, which harms nobody; one that goes on missing them is ended. Beats are counted
// and not the time between them: a machine that was suspended, or so busy that this program did not
// get its turn either, has not hung.
//
// The second look comes half a beat after the first that saw nothing, because others wait: a paused
// keepalived neither speaks for its VIP nor gives it back, and those who hear no advertisement take
// the VIP over as well. The best of them does so 3.6 s after the last one, which is 2.6 s after the
// pause when it came a whole interval before. The pause is seen within 2.5 s, so an engine that
// answers at once leaves the VIP with one holder. One that must be started first, or a busy
// machine, may leave it with two until keepalived goes on.
const (
	beat    = time.Second
	early   = beat / 10 // a beat may be so much shorter: rounds that are meant to come once a beat do not come on the dot
	again   = beat / 2  // until the second look; more than the two programs' beats shift against each other
	suspect = 2
	faint   = 5
	// dead is more than the 10 s for which onprem-supervise may wait for keepalived's test of a
	// configuration.
	dead = 12
	// youth are the beats that a container which has just been started may miss beyond that before
	// its first sign: a machine that pulls images may be slow, and who kills what is only slow will
	// kill it again.
	youth = 30
)

// pulse is what is known of a container's life.
type pulse struct {
	next    time.Time // when it is felt again
	missed  int       // beats without a sign
	spare   int       // beats that it may miss beyond what others may
	trouble error     // what was found and done; nil again with the next sign
}

func newborn() pulse { return pulse{spare: youth} }

// feel asks for a sign of life when a beat is due, and cures a container that gives none. The error
// says so until there is a sign again.
func (k *Keeper) feel(ctx context.Context, name string) error {
	now := time.Now()
	if k.Sign == nil || now.Before(k.pulse.next) {
		return k.pulse.trouble
	}
	k.pulse.next = now.Add(beat - early)
	why := k.Sign(ctx, k.running.process)
	switch {
	case ctx.Err() != nil, !k.Running(): // nobody waits for the answer, or there is nobody to give one
		return k.pulse.trouble
	case why == nil:
		k.pulse = pulse{next: k.pulse.next}
		return nil
	}
	if k.pulse.missed++; k.pulse.missed < suspect {
		k.pulse.next = now.Add(again)
		time.AfterFunc(again, func() { loop.Wake(k.Wake) })
		return k.pulse.trouble
	}
	k.pulse.trouble = k.cure(ctx, name, why)
	return k.pulse.trouble
}

// cure has a container go on that somebody has paused or stopped, which keeps what it holds, and
// kills it only when that does not help. The next round starts another one in its place; so nothing
// is killed while the engine does not answer. A container that is only suspected and not paused is
// left alone, and nothing is said of it.
func (k *Keeper) cure(ctx context.Context, name string, why error) error {
	state, found, err := k.Engine.Inspect(ctx, name)
	suspected := k.pulse.missed < faint
	if err != nil && suspected {
		return k.pulse.trouble
	}
	if err != nil {
		return fmt.Errorf("container %s gives no sign of life (%w); look at it: %w", name, why, err)
	}
	if found && ours(state) && state.Paused {
		if err := k.Engine.Unpause(ctx, name); err != nil {
			return fmt.Errorf("container %s is paused: %w", name, err)
		}
		k.pulse.missed = 0
		return fmt.Errorf("container %s was paused and goes on", name)
	}
	if suspected {
		return k.pulse.trouble
	}
	signal, done := syscall.SIGCONT, "told it to go on"
	if k.pulse.missed >= dead+k.pulse.spare {
		// A debugger is a person's wish, and what the first process serves goes on: keepalived
		// speaks for the VIP by itself. (onprem-supervise kills a keepalived that a debugger holds:
		// others take its VIP, and two would hold it.)
		if tracer, err := k.running.process.Tracer(); err == nil && tracer != 0 {
			return fmt.Errorf("container %s gives no sign of life (%w): left alone while process %d traces it", name, why, tracer)
		}
		signal, done = syscall.SIGKILL, "killed it"
	}
	if err := k.Signal(signal); err != nil {
		return fmt.Errorf("container %s gives no sign of life (%w): %w", name, why, err)
	}
	return fmt.Errorf("container %s gives no sign of life (%w): %s", name, why, done)
}
