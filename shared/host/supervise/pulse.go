package supervise

import "time"

// A router that is MASTER sends adverts, and one that is BACKUP hears them or soon becomes MASTER, so within one master-down time, less
// than 4 s by the slowest timing, it has done something. Beats are counted and not the time between them: a container that was frozen
// and thawed as a whole has not hung.
const (
	beat     = time.Second
	maxStill = 8
)

// pulse tells whether a process still does anything.
type pulse struct {
	cpu   time.Duration
	still int // beats without a change of cpu
}

// stopped takes the processor time that the process has used by this beat.
func (p *pulse) stopped(cpu time.Duration) bool {
	if cpu != p.cpu {
		*p = pulse{cpu: cpu}
		return false
	}
	p.still++
	return p.still >= maxStill
}
