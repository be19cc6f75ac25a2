package daemon

import "time"

// A MASTER router sends adverts, and a BACKUP router receives them or soon becomes MASTER, so
// within one master-down time, less than 4 s by the slowest timing, it has done something. Beats
// are counted and not the time between them: a container that was frozen and thawed as a whole has
// not hung.
//
// A process that a signal has stopped is known at once: other routers take its VIP 3.6 s after the
// last advert. Once it is continued, nothing is lost. If it is stopped again by the next beat,
// something holds it, and it would come back as a second holder.
//
// keepalived reports the state of its instances as soon as it has read its configuration. One that
// has reported nothing is given the time of a slow machine, and then counts as hung. Without an
// instance, as on a remote worker or on a node that is not a candidate, there is nothing to report.
const (
	maxIdle    = 8
	maxStopped = 2
	maxSilent  = 30
)

// activity is whether a process still does anything.
type activity struct {
	cpu     time.Duration
	idle    int // beats without a change of cpu
	stopped int // beats in a row at which a signal had stopped it
	silent  int // beats before the first report
}

// observation is the state of a process at a beat.
type observation struct {
	cpu     time.Duration // that it has used
	active  bool          // it must be sending or receiving adverts
	stopped bool          // by a signal
	silent  bool          // it has not reported yet, and has an instance to report
}

// remedy is what a beat calls for.
type remedy int

const (
	none     remedy = iota
	resume          // it is stopped by a signal
	killHung        // it hangs
)

// observe takes an observation at this beat. In INIT and in FAULT a process may be idle for ever.
func (a *activity) observe(o observation) remedy {
	if o.active && o.cpu == a.cpu {
		a.idle++
	} else {
		a.cpu, a.idle = o.cpu, 0
	}
	if o.silent {
		a.silent++
	} else {
		a.silent = 0
	}
	if !o.stopped {
		a.stopped = 0
	} else if a.stopped++; a.stopped < maxStopped {
		return resume
	}
	if a.stopped >= maxStopped || a.idle >= maxIdle || a.silent >= maxSilent {
		return killHung
	}
	return none
}
