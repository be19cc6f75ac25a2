package world

import "time"

// Span is a time that is not always the same.
type Span struct{ least, Most time.Duration }

func (w *World) Take(s Span) time.Duration { return w.Between(s.least, s.Most) }

// Milliseconds are the milliseconds of a fault's amount.
func Milliseconds(amount int) time.Duration { return time.Duration(amount) * ms }

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// Hosts.
var (
	Shutdown = Span{500 * ms, 2 * time.Second}        // from the VIP's end to the power's, in order
	BootPods = Span{800 * ms, 2 * time.Second}        // from the power to a pod
	BootAPI  = Span{3 * time.Second, 6 * time.Second} // and to a ready API server
	Watches  = Span{5 * ms, 150 * ms}                 // a change of the API's objects to arrive
	Restarts = Span{1000 * ms, 1300 * ms}             // of a container that has exited for the first time
	Wakes    = Span{0, 150 * us}                      // a process to run when its timer is due
	Wire     = Span{40 * us, 250 * us}                // an advert to arrive
)

// Keepalived, its supervisor and the monitor.
var (
	AddTakes  = Span{200 * us, 2 * ms}   // a new holder to have the address
	DropTakes = Span{300 * us, 3 * ms}   // a former one to have it no more
	TrackRead = Span{500 * us, 3 * ms}   // a tracked file to count
	Startup   = Span{40 * ms, 120 * ms}  // a new keepalived to start its instance
	Reloading = Span{100 * ms, 350 * ms} // a configuration to be tested and read
	Notifies  = Span{300 * us, 4 * ms}   // a state on the FIFO
	Strips    = Span{1 * ms, 5 * ms}     // an orphaned VIP to be removed
	Rounds    = Span{1 * ms, 8 * ms}     // a round of a monitor
	Answers   = Span{500 * us, 8 * ms}   // a server's answer to a probe
)

// What a client is like that opens a connection for each request, and other programs.
const (
	requestTakes  = 6 * ms
	ClientTimeout = 200 * ms

	RepeatARP = time.Second // vrrp_garp_master_delay 1
	LateTick  = ms          // a ticker whose tick passed while a probe hung

	Slack      = 20 * ms     // what machines take beside the protocol's times
	AfterFault = time.Second // a router that was stopped waits as the others do
)
