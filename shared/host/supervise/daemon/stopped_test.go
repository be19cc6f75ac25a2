package daemon

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestShortest holds that keepalived is checked at each advert of every profile.
func TestShortest(t *testing.T) {
	for _, timing := range vrrp.Profiles() {
		if timing.Advert < shortest {
			t.Errorf("%s: adverts every %v, reads every %v", timing.Profile, timing.Advert, shortest)
		}
	}
}

// TestMetronome has a clock tick at one pace and at another, none too soon, and end.
func TestMetronome(t *testing.T) {
	end := make(chan struct{})
	m, err := newMetronome(end)
	if err != nil {
		t.Fatal(err)
	}
	for _, pause := range []time.Duration{20 * time.Millisecond, 60 * time.Millisecond} {
		begin := time.Now()
		for i := range 3 {
			if !m.wait(pause) {
				t.Fatalf("tick %d of %v did not come", i, pause)
			}
		}
		if took := time.Since(begin); took < 3*pause-time.Millisecond {
			t.Errorf("three ticks of %v after %v", pause, took)
		}
	}
	ended := make(chan bool)
	go func() { ended <- m.wait(time.Hour) }()
	close(end)
	if <-ended {
		t.Error("a clock that has ended ticks on")
	}
}
