package supervise

import "time"

// A router that is MASTER sends adverts, and one that is BACKUP hears them or soon becomes MASTER,
// so within one master-down time, less than 4 s by the slowest timing, it has done something. Beats
// are counted and not the time between them: a container that was frozen and thawed as a whole has
// not hung.
//
// A signal that stops a process is plain to see, and need not be waited for: others take a VIP 3.6
// s after the last advert. To go on is all that it needs, and nothing is lost. One that is stopped
// again by the next beat is held by somebody, and would come back as a second holder.
//
// Whatever the state of its interfaces, keepalived says it as soon as it has read its
// configuration. One that has not said a word is given the time of a slow machine, and then hangs.
// A configuration without an instance gives it nothing to report, for however long: that of a
// remote worker, or of a node that may not take part.
const (
	beat     = time.Second
	maxStill = 8
	maxHeld  = 2
	maxMute  = 30

	// along is how much too early a beat may be: what is to be done once a beat is then done in one
	// turn, whenever each part of it began.
	along = 100 * time.Millisecond
)

// pulse tells whether a process still does anything.
type pulse struct {
	cpu   time.Duration
	still int // beats without a change of cpu
	held  int // beats in a row at which a signal had stopped it
	mute  int // beats before the first word
}

// sign is what a process is found in at a beat.
type sign struct {
	cpu  time.Duration // that it has used
	busy bool          // it must be sending or hearing adverts
	held bool          // a signal has stopped it
	mute bool          // it has not said a word yet, and has an instance to report
}

// cure is what a beat calls for.
type cure int

const (
	none cure = iota
	goOn      // it is stopped by a signal: continue it
	end       // it hangs
)

// feel takes what the process is found in at this beat. In INIT and in FAULT it may rest for as
// long as it likes.
func (p *pulse) feel(s sign) cure {
	if s.busy && s.cpu == p.cpu {
		p.still++
	} else {
		p.cpu, p.still = s.cpu, 0
	}
	if s.mute {
		p.mute++
	} else {
		p.mute = 0
	}
	if !s.held {
		p.held = 0
	} else if p.held++; p.held < maxHeld {
		return goOn
	}
	if p.held >= maxHeld || p.still >= maxStill || p.mute >= maxMute {
		return end
	}
	return none
}
