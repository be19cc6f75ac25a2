package speak

import (
	"time"
)

// The times of a host. Routers pass on a withdrawal after 50 to 110 ms each.
const (
	// Silence is how long a monitor may be silent before its host leaves. One that ends in order is
	// replaced within that, but for the second time in ten minutes: kubelet waits for longer then.
	Silence = 10 * time.Second
	// Notice is within which time the end of a monitor that dies is noticed.
	Notice = 50 * time.Millisecond
	// Linger is how long an address outlives its route: packets are under way, and routers further
	// away have the route for some tenths of a second.
	Linger = time.Second
	// Patience is how long a host that leaves waits to be told of another way to a VIP, and Settle
	// how long it then goes on: a router tells of its new way before it uses it, and those behind
	// it follow. A host that withdrew at once lost some connections where it was its rack's last.
	Patience = 1500 * time.Millisecond
	Settle   = 400 * time.Millisecond
	// Obedience is within which time the daemon must have withdrawn what it is told to. It takes
	// 50 ms to begin, and shares its host's processor.
	Obedience = 600 * time.Millisecond
	// Precedence is how long a host lets the one in front of it announce first, and Yield how much
	// longer than others that one announces when all end that. Routers else send connections to
	// another host for that time, which break when it is over.
	Precedence = 5 * time.Second
	Yield      = 2 * time.Second
	// memory is how long a withdrawal counts for the time until the next announcement.
	memory = 5 * time.Minute
	// latest is the longest such time; the first one is a second, and each further withdrawal
	// doubles it.
	latest = 30 * time.Second
	// alone is the longest one while no router tells of another way: clients may have none.
	alone = 2 * time.Second
)

// The times of a session until what is announced in it stays.
const (
	// Steady is how long it has been up, with BFD: one that comes up before BFD falls once more
	// (FRR#17337).
	Steady = time.Second
	// unspoken is after which time a router whose session is up counts as one without BFD: where
	// both speak it, that is up some seconds after the session, and takes it down if it fails.
	unspoken = 15 * time.Second
)

// Ready reports whether routes that are announced in a session would stay. Lasts is how long it has
// been up, and bfd whether BFD is up, or not used.
func Ready(lasts time.Duration, bfd bool) bool {
	return lasts >= Steady && bfd || lasts >= unspoken
}

// Demote is within which time a host whose monitor has died is behind all others, by so many
// demotions.
func Demote(demotions int) time.Duration {
	return Notice + time.Duration(max(demotions-1, 0))*Settle
}

// Leave is how long a host takes at most to leave in order, by so many demotions.
func Leave(demotions int) time.Duration {
	return time.Duration(max(demotions-1, 0))*Settle + Patience + Obedience + Linger
}
