package simulate

import "time"

// This file has every time that a machine, a kernel, keepalived or a client takes, as the
// daemons' tests and the measurements see them on a machine that is not busy. No decision is
// among them: those are the product's, and the simulator calls them. A law in
// test/laws_simulate_test.go holds it.

// span is a time that is not always the same.
type span struct{ least, most time.Duration }

func spanOf(least, most time.Duration) span { return span{least, most} }

func (w *world) some(s span) time.Duration { return w.between(s.least, s.most) }

// ms are the milliseconds of a fault's amount.
func ms(amount int) time.Duration { return time.Duration(amount) * time.Millisecond }

// Hosts.
var (
	shutdown = spanOf(500*time.Millisecond, 2*time.Second)      // from the VIP's end to the power's, in order
	bootPods = spanOf(800*time.Millisecond, 2*time.Second)      // from the power to a pod
	bootAPI  = spanOf(3*time.Second, 6*time.Second)             // and to a ready API server
	watches  = spanOf(5*time.Millisecond, 150*time.Millisecond) // a change of the API's objects to arrive
	restarts = spanOf(time.Second, 1300*time.Millisecond)       // of a container that has exited for the first time
	wakes    = spanOf(0, 150*time.Microsecond)                  // a process to run when its timer is due
	wire     = spanOf(40*time.Microsecond, 250*time.Microsecond)
)

// Keepalived, its supervisor and the monitor.
var (
	addTakes  = spanOf(200*time.Microsecond, 2*time.Millisecond)   // a new holder to have the address
	dropTakes = spanOf(300*time.Microsecond, 3*time.Millisecond)   // a former one to have it no more
	trackRead = spanOf(500*time.Microsecond, 3*time.Millisecond)   // a tracked file to count
	startup   = spanOf(40*time.Millisecond, 120*time.Millisecond)  // a new keepalived to start its instance
	reloading = spanOf(100*time.Millisecond, 350*time.Millisecond) // a configuration to be tested and read
	notifies  = spanOf(300*time.Microsecond, 4*time.Millisecond)   // a state on the FIFO
	strips    = spanOf(time.Millisecond, 5*time.Millisecond)       // an orphaned VIP to be removed
	turns     = spanOf(time.Millisecond, 8*time.Millisecond)       // a round of a monitor
	answers   = spanOf(500*time.Microsecond, 8*time.Millisecond)   // a server's answer to a probe
)

// pauses are between the ends of keepalived's VRRP process and its next starts, which keepalived
// makes.
var pauses = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second}

// What a client is like that opens a connection for each request, and other programs.
const (
	requestTakes = 6 * time.Millisecond
	patience     = 200 * time.Millisecond

	secondBurst = time.Second      // a holder announces again where the VIP is (vrrp_garp_master_delay 1)
	lateTick    = time.Millisecond // a ticker whose tick passed while a probe hung

	slack      = 20 * time.Millisecond // what machines take beside the protocol's times
	afterFault = time.Second           // a router that was stopped waits as the others do
)
