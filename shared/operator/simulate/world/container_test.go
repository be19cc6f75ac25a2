package world

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestRestart holds kubelet's back-off: at once, then after 10 s, doubled up to 5 min, each counted
// from the exit, and anew after more than 10 minutes of running.
func TestRestart(t *testing.T) {
	const second, minute = time.Second, time.Minute
	timing, _ := vrrp.TimingOf(vrrp.ProfileLan)
	for _, tt := range []struct {
		name string
		ran  []time.Duration // before each exit
		want []time.Duration // the least pause after it
	}{
		{"again and again", make([]time.Duration, 9), []time.Duration{0, 10 * second, 20 * second,
			40 * second, 80 * second, 160 * second, 5 * minute, 5 * minute, 5 * minute}},
		{"for ten minutes each time", []time.Duration{0, 10 * minute, 10 * minute},
			[]time.Duration{0, 10 * second, 20 * second}},
		{"once for longer", []time.Duration{0, 0, 0, 10*minute + 1, 0, 0},
			[]time.Duration{0, 10 * second, 20 * second, 0, 10 * second, 20 * second}},
		{"the first time for longer", []time.Duration{time.Hour, 0}, []time.Duration{0, 10 * second}},
	} {
		for seed := range uint64(20) {
			w := New(schedule.Of(timing), schedule.Schedule{Seed: seed})
			var c Container
			for i, ran := range tt.ran {
				w.Now += ran
				pause := w.Restart(&c)
				least, most := max(tt.want[i], Restarts.least), tt.want[i]+Resyncs.Most
				if tt.want[i] == 0 {
					most = Restarts.Most
				}
				if pause < least || pause > most {
					t.Fatalf("%s: start %d after %v, want %v to %v", tt.name, i, pause, least, most)
				}
				w.Now += pause
			}
		}
	}
}

// TestForget holds that a reboot begins the back-off anew, and that podman's containers have none
// before and after it.
func TestForget(t *testing.T) {
	timing, _ := vrrp.TimingOf(vrrp.ProfileLan)
	w := New(schedule.Of(timing), schedule.Schedule{})
	for _, podman := range []bool{false, true} {
		c := Container{ByPodman: podman}
		for range 2 {
			w.Restart(&c)
			if again := w.Restart(&c) > Restarts.Most; again == podman {
				t.Errorf("by podman %t: it waits for a back-off: %t", podman, again)
			}
			c.Forget()
		}
		if pause := w.Restart(&c); pause > Restarts.Most {
			t.Errorf("by podman %t: after a reboot it waits for %v", podman, pause)
		}
	}
}
