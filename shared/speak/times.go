package speak

import (
	"time"
)

// The times of a host. Routers pass on a withdrawal after 50 to 110 ms each.
const (
	// Silence is how long a monitor may ask for nothing before its host leaves. One that ends in
	// order is replaced within that, but kubelet waits longer the second time in ten minutes.
	Silence = 10 * time.Second
	// Notice is the time within which it is noticed that a monitor has died.
	Notice = 50 * time.Millisecond
	// Linger is how long an address outlives its route: packets are under way, and routers further
	// away have the route for some tenths of a second.
	Linger = time.Second
	// Patience is how long a host that leaves waits for a router to report another way to a VIP,
	// and Settle how long it then goes on: a router reports its new way before it uses it, and
	// others follow. The last host of a rack lost some connections if it withdrew at once.
	Patience = 1500 * time.Millisecond
	Settle   = 400 * time.Millisecond
	// Obedience is the time within which the daemon must have withdrawn what it is ordered to. It
	// takes 50 ms to begin, and shares its host's processor.
	Obedience = 600 * time.Millisecond
	// Precedence is how long a host lets the preferred one announce first, and Yield how much
	// longer than others the preferred one announces when all stop. Otherwise routers send
	// connections to another host for that time, which break when it is over.
	Precedence = 5 * time.Second
	Yield      = 2 * time.Second
	// memory is how long a withdrawal counts towards the wait before the next announcement.
	memory = 5 * time.Minute
	// latest is the longest such wait; the first one is a second, and each further withdrawal
	// doubles it.
	latest = 30 * time.Second
	// alone is the longest wait while no router reports another way: clients may have none.
	alone = 2 * time.Second
)

// The times of a session until what is announced in it stays.
const (
	// Steady is how long a session with BFD must have been up: one that comes up before BFD falls
	// once more (FRR#17337).
	Steady = time.Second
	// unspoken is the time after which a router whose session is up counts as one without BFD: if
	// both use it, BFD is up some seconds after the session, and ends it if it fails.
	unspoken = 15 * time.Second
)

// Ready reports whether routes that are announced in a session would stay. Lasts is how long it has
// been up, and bfd whether BFD is up, or not used.
func Ready(lasts time.Duration, bfd bool) bool {
	return lasts >= Steady && bfd || lasts >= unspoken
}

// Demote is the time within which a host whose monitor has died is behind all others, with so
// many demotions.
func Demote(demotions int) time.Duration {
	return Notice + time.Duration(max(demotions-1, 0))*Settle
}

// Leave is how long a host takes at most to leave in order, with so many demotions.
func Leave(demotions int) time.Duration {
	return time.Duration(max(demotions-1, 0))*Settle + Patience + Obedience + Linger
}
