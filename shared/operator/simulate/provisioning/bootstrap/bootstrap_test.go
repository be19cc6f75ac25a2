package bootstrap

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bootserver"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/provisioned"
)

// open is a bootstrap machine alone: its hosts stay off, and nothing else happens.
func open(t *testing.T, sharing string) (*world.World, *Machine) {
	t.Helper()
	c, err := schedule.Of(provisioned.Plan(t, sharing))
	if err != nil {
		t.Fatal(err)
	}
	w := world.New(c, schedule.Schedule{Seed: 1})
	return w, New(w)
}

// until has the machine's own events happen, and looks at each instant.
func until(w *world.World, m *Machine, end time.Duration, judge func()) {
	for !w.Queue.Empty() {
		e := w.Queue.Pop()
		if e.At > end {
			w.At(e.At, e)
			break
		}
		w.Now = e.At
		switch {
		case e.Kind == world.EvPhases:
			m.Round(e.Gen)
		case e.Gen != m.boot.Boots || !m.boot.On:
		case e.Kind == world.EvPower:
			m.Start()
		case e.Kind == world.EvPart:
			m.Part(e.Arg)
		}
		judge()
	}
	w.Now = end
}

// TestMachine holds that the machine comes as far as its hosts by itself, that it serves none
// before its parts are on, and that after a power cut it has nothing until it comes there again.
func TestMachine(t *testing.T) {
	for sharing := range provisioned.Sharings() {
		w, m := open(t, sharing)
		serves := func() bool { return w.Serves(w.Boot.Server) }
		judge := func() { // a machine that comes back to a phase has its parts begin at once
			if b := w.Boot; serves() && (!b.Held || b.Boots == 1 && (!b.HTTP || !b.Ironic)) {
				t.Fatalf("%s: at %v it answers hosts, address %t, HTTP %t, Ironic %t", sharing, w.Now, w.Boot.Held, w.Boot.HTTP, w.Boot.Ironic)
			}
		}
		m.On()
		until(w, m, 5*time.Minute, judge)
		if !serves() || w.Boot.Phase != progress.Deploy {
			t.Fatalf("%s: phase %s, answers %t", sharing, w.Boot.Phase, serves())
		}
		m.Off()
		if b := w.Boot; b.On || b.Held || b.HTTP || b.Ironic || m.Runs() || serves() || b.Server.Addressed || len(b.Ledger) == 0 {
			t.Errorf("%s: without power it has %+v", sharing, b)
		}
		until(w, m, 6*time.Minute, func() {
			if w.Boot.Held || m.Runs() {
				t.Fatalf("%s: at %v a machine without power does something", sharing, w.Now)
			}
		})
		m.On()
		until(w, m, 11*time.Minute, judge)
		if !serves() || w.Boot.Phase != progress.Deploy {
			t.Errorf("%s: after a power cut it is in phase %s, answers %t", sharing, w.Boot.Phase, serves())
		}
	}
}

// TestKillDHCP holds that the fence closes by itself when the program of the DHCP server is killed,
// and opens when that is back.
func TestKillDHCP(t *testing.T) {
	w, m := open(t, "one")
	m.On()
	until(w, m, 5*time.Minute, func() {})
	m.KillDHCP()
	if !w.Serves(w.Boot.Server) {
		t.Error("the fence has closed at once, and dnsmasq goes on")
	}
	until(w, m, w.Now+bootserver.Open+time.Millisecond, func() {})
	if w.Serves(w.Boot.Server) {
		t.Error("the fence is open without its program")
	}
	m.StartDHCP()
	until(w, m, w.Now+time.Minute, func() {})
	if !w.Serves(w.Boot.Server) {
		t.Error("hosts get no answer, and the program is back")
	}
}

// TestKillIronic holds that Ironic comes back, and the phase machine with it.
func TestKillIronic(t *testing.T) {
	w, m := open(t, "two")
	m.On()
	until(w, m, 5*time.Minute, func() {})
	m.KillIronic(false)
	if w.Boot.Ironic {
		t.Error("Ironic was killed, and answers")
	}
	until(w, m, w.Now+2*time.Minute, func() {})
	if !w.Boot.Ironic || w.Boot.Phase != progress.Deploy {
		t.Errorf("Ironic answers %t, in phase %s", w.Boot.Ironic, w.Boot.Phase)
	}
}

// TestAsk holds that what a person asks for is for the handover of then, and is lost with the power.
func TestAsk(t *testing.T) {
	w, m := open(t, "one")
	m.On()
	until(w, m, 5*time.Minute, func() {})
	if m.Ask(true); m.Asked() {
		t.Error("nothing is handed over, and a person takes it back")
	}
	w.Boot.Memory.HandoverSince = w.Clock()
	if m.Ask(true); !m.Asked() {
		t.Error("a person takes it back, and nothing is asked for")
	}
	w.Boot.Memory.HandoverSince = w.Clock().Add(time.Second)
	if m.Asked() {
		t.Error("it is asked for after another handover")
	}
	if m.Ask(false); !m.Asked() {
		t.Error("a person hands it over, and nothing is asked for")
	}
	if m.Off(); m.Asked() {
		t.Error("it is asked for after a power cut")
	}
	if m.Ask(true); m.Asked() {
		t.Error("a machine that is off is asked")
	}
}
