package redirect

// Latch is whether the redirect to a daemon is on. It follows the daemon's health at once: the
// redirect is removed at the first refused connection or unhealthy answer. Several probes in a row
// may time out, as on a busy machine, before the daemon counts as failed. The zero value is off.
type Latch struct {
	on   bool
	late int // probes in a row that timed out
}

// Take takes the result of a probe, which was healthy, unhealthy or late, and reports whether the
// redirect is on. fall is how many late ones in a row switch it off.
func (l *Latch) Take(healthy, late bool, fall int) (on bool) {
	if late {
		l.late++
	} else {
		l.late, l.on = 0, healthy
	}
	if l.late >= fall {
		l.on = false
	}
	return l.on
}
