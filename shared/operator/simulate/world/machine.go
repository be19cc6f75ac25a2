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
	Restarts = Span{1000 * ms, 1300 * ms}             // of a container, after its first exit
	Resyncs  = Span{0, 15 * time.Second}              // of a pod, after a container's back-off
	Wakes    = Span{0, 150 * us}                      // a process to run when its timer is due
	Wire     = Span{40 * us, 250 * us}                // an advert to arrive
)

// Kubelet's back-off of a container: its pod_workers.go and client-go's flowcontrol.Backoff.
const (
	firstBackOff = 10 * time.Second
	longBackOff  = 5 * time.Minute
	steady       = 2 * longBackOff // a container that has run for longer begins anew
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

// The times of a client that opens a connection for each request, and of other programs.
const (
	requestTakes  = 6 * ms
	ClientTimeout = 200 * ms

	RepeatARP = time.Second // vrrp_garp_master_delay 1
	LateTick  = ms          // a ticker whose tick passed while a probe hung

	Slack      = 20 * ms     // what machines take beside the protocol's times
	AfterFault = time.Second // until a router that was stopped waits as the others do
)

// links are the faults of a host's network connection and processors.
type links struct {
	InCut, OutCut int // how many faults cut it
	Loss          int // percent, each way
	Delay         int // ms of what it sends
	Duplicate     int // percent of what it sends
	Hog           int // ms
	Quiet         time.Duration
}

func (l links) In() bool { return l.InCut == 0 }

func (l links) Out() bool { return l.OutCut == 0 }

// Disturbed reports whether packets are lost or late, or their sender is.
func (l links) Disturbed() bool {
	return l.InCut > 0 || l.OutCut > 0 || l.Loss > 0 || l.Delay > 0 || l.Hog > 0
}

// Reaches reports whether a packet can arrive, unless it is lost.
func Reaches(from, to *Host) bool { return from.On && to.On && from.Links.Out() && to.Links.In() }

// Draws reports whether an event of such a likelihood happens.
func (w *World) Draws(percent int) bool { return percent > 0 && w.Random.IntN(100) < percent }

// Calm reports whether packets have arrived in time both ways between two hosts for so long.
func (w *World) Calm(a, b *Host, long time.Duration) bool {
	for _, h := range []*Host{a, b} {
		if h.Links.Disturbed() || w.Now-h.Links.Quiet < long && h.Links.Quiet > 0 {
			return false
		}
	}
	return true
}
