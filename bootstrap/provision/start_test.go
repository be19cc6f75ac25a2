package provision

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// endedLate is a run in which the last host joins in the moment in which Ironic ends its deployment, for
// which it is switched off.
func endedLate(t *testing.T) *rig {
	t.Helper()
	r := doubtful(t)
	m := r.world.Machines[1]
	r.allow(m)
	if !r.until(t.Context(), time.Minute, func() bool { return r.node(m).State == node.Deleting }) || !m.On {
		t.Fatalf("its deployment is not ended: %+v\n%s", r.shown.Hosts[1], r.file)
	}
	r.until(t.Context(), time.Second, func() bool { return false })
	m.Joined = r.world.Now
	if !r.until(t.Context(), time.Minute, func() bool { return !m.On }) {
		t.Fatal("it is not switched off")
	}
	return r
}

// A host that joined as its deployment was ended is started again, whatever becomes of the first request
// for it, and before Ironic goes off.
func TestRun_StartsAgain(t *testing.T) {
	for _, why := range append(starts, nil) {
		r := endedLate(t)
		m := r.world.Machines[1]
		r.startsLate(why)
		if !r.until(t.Context(), 3*time.Minute, func() bool { return m.On }) {
			t.Fatalf("%v: it stays off: %+v\n%s", why, r.shown, r.file)
		}
		on := m.Since()
		r.at(t, progress.Ended)
		if r.sound(t); !m.Since().Equal(on) || m.Writes != 0 || r.starts == 0 || r.memory().Hosts[m.Name].Ended {
			t.Errorf("%v: its power was switched at %v and %v, %d writes, %d requests", why, on, m.Since(), m.Writes, r.starts)
		}
	}
}

// One whose BMC does not answer any more keeps Ironic on for the time of an installation, and no longer.
func TestRun_StartsNever(t *testing.T) {
	r := endedLate(t)
	m := r.world.Machines[1]
	m.Dead = true
	begun := r.world.Now
	if !r.until(t.Context(), 2*time.Hour, func() bool { return r.memory().Phase.Past(progress.Announce) }) {
		t.Fatalf("no end: %+v", r.shown)
	}
	if took := r.world.Now.Sub(begun); m.On || took < 50*time.Minute {
		t.Errorf("it took %v", took)
	}
	r.sound(t)
}

// A host that runs is not reset, though Ironic was to end its deployment and has adopted it since.
func TestRun_RunsOn(t *testing.T) {
	r := doubtful(t)
	m := r.world.Machines[1]
	r.refuses = func(q node.Request) error { return starts[1] } // no deployment is ended
	r.allow(m)
	r.until(t.Context(), 10*time.Second, func() bool { return r.memory().Hosts[m.Name].Ended })
	m.Joined = r.world.Now
	r.startsLate(nil)
	r.world.Lose()
	on := m.Since()
	r.at(t, progress.Ended)
	if r.sound(t); !r.memory().Hosts[m.Name].Adopted || !m.Since().Equal(on) || r.starts > 0 {
		t.Errorf("its power was switched at %v, and at %v, asked for %d times\n%s", on, m.Since(), r.starts, r.file)
	}
}
