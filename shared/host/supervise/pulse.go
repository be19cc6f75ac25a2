package supervise

import "time"

// A router that is MASTER sends adverts, and one that is BACKUP hears them or soon becomes MASTER, so within one master-down time, less
// than 4 s by the slowest timing, it has done something. Beats are counted and not the time between them: a container that was frozen
// and thawed as a whole has not hung.
//
// A signal that stops a process is plain to see, and need not be waited for: others take a VIP 3.6 s after the last advert. To go on is all
// that it needs, and nothing is lost. One that is stopped again by the next beat is held by somebody, and would come back as a second holder.
const (
	beat     = time.Second
	maxStill = 8
	maxHeld  = 2
)

// pulse tells whether a process still does anything.
type pulse struct {
	cpu   time.Duration
	still int // beats without a change of cpu
	held  int // beats in a row at which a signal had stopped it
}

// cure is what a beat calls for.
type cure int

const (
	none cure = iota
	goOn      // it is stopped by a signal: continue it
	end       // it hangs
)

// feel takes what the process is found in at this beat: the processor time that it has used, and whether a signal has stopped it.
func (p *pulse) feel(cpu time.Duration, held bool) cure {
	if cpu == p.cpu {
		p.still++
	} else {
		p.cpu, p.still = cpu, 0
	}
	if !held {
		p.held = 0
	} else if p.held++; p.held < maxHeld {
		return goOn
	}
	if p.held >= maxHeld || p.still >= maxStill {
		return end
	}
	return none
}
