package supervise

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
)

// shortest is the least time between two glances: there are no faster adverts.
const shortest = 100 * time.Millisecond

// glance looks every advert whether a signal has stopped a daemon, until its VRRP process has ended, and wakes the loop, which continues it. Where
// adverts follow each other faster than beats, others would have taken the VIP by the next beat, and it would have two holders when the first one
// goes on.
func (s *supervisor) glance(d *daemon, speaker *proc.Process, gone <-chan struct{}) {
	for {
		pause := max(time.Duration(s.advert.Load()), shortest)
		if pause < beat && (proc.Held(d.pid) || proc.Held(speaker.PID)) {
			wake(s.stopped)
		}
		timer := time.NewTimer(min(pause, beat))
		select {
		case <-gone:
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}
