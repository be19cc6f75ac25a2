package world

import "time"

// Span is a time that is not always the same.
type Span struct{ least, Most time.Duration }

func spanOf(least, most time.Duration) Span { return Span{least, most} }

func (w *World) Take(s Span) time.Duration { return w.Between(s.least, s.Most) }

// Milliseconds are the milliseconds of a fault's amount.
func Milliseconds(amount int) time.Duration { return time.Duration(amount) * time.Millisecond }

// Hosts.
var (
	Shutdown = spanOf(500*time.Millisecond,
		2*time.Second) // from the VIP's end to the power's, in order
	BootPods = spanOf(800*time.Millisecond, 2*time.Second) // from the power to a pod
	BootAPI  = spanOf(3*time.Second, 6*time.Second)        // and to a ready API server
	Watches  = spanOf(5*time.Millisecond,
		150*time.Millisecond) // a change of the API's objects to arrive
	Restarts = spanOf(time.Second,
		1300*time.Millisecond) // of a container that has exited for the first time
	Wakes = spanOf(0, 150*time.Microsecond) // a process to run when its timer is due
	Wire  = spanOf(40*time.Microsecond, 250*time.Microsecond)
)

// Keepalived, its supervisor and the monitor.
var (
	AddTakes  = spanOf(200*time.Microsecond, 2*time.Millisecond) // a new holder to have the address
	DropTakes = spanOf(300*time.Microsecond, 3*time.Millisecond) // a former one to have it no more
	TrackRead = spanOf(500*time.Microsecond, 3*time.Millisecond) // a tracked file to count
	Startup   = spanOf(40*time.Millisecond,
		120*time.Millisecond) // a new keepalived to start its instance
	Reloading = spanOf(100*time.Millisecond,
		350*time.Millisecond) // a configuration to be tested and read
	Notifies = spanOf(300*time.Microsecond, 4*time.Millisecond) // a state on the FIFO
	Strips   = spanOf(time.Millisecond, 5*time.Millisecond)     // an orphaned VIP to be removed
	Rounds   = spanOf(time.Millisecond, 8*time.Millisecond)     // a round of a monitor
	Answers  = spanOf(500*time.Microsecond, 8*time.Millisecond) // a server's answer to a probe
)

// Pauses are between the ends of keepalived's VRRP process and its next starts, which keepalived
// makes.
var Pauses = []time.Duration{
	0,
	time.Second,
	2 * time.Second,
	4 * time.Second,
	8 * time.Second,
	10 * time.Second,
}

// What a client is like that opens a connection for each request, and other programs.
const (
	requestTakes  = 6 * time.Millisecond
	ClientTimeout = 200 * time.Millisecond

	RepeatARP = time.Second      // vrrp_garp_master_delay 1
	LateTick  = time.Millisecond // a ticker whose tick passed while a probe hung

	Slack      = 20 * time.Millisecond // what machines take beside the protocol's times
	AfterFault = time.Second           // a router that was stopped waits as the others do
)
