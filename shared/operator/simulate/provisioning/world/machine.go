package world

import "time"

// Span is the range of a time that varies: from least to just below most.
type Span struct{ least, most time.Duration }

const ms, s, m = time.Millisecond, time.Second, time.Minute

// Hosts that boot. Servers take long to test their memory; iPXE and the ramdisk are of metal3's
// sizes on links of 1 to 10 Gbit/s.
var (
	Firmware = Span{20 * s, 90 * s}       // from the power to the first packet
	Program  = Span{500 * ms, 3 * s}      // iPXE is fetched and started
	Kernel   = Span{5 * s, 40 * s}        // kernel and ramdisk are fetched
	RamdiskT = Span{25 * s, 70 * s}       // the ramdisk starts, until it asks for an address
	Calls    = Span{1 * s, 5 * s}         // from its address to its first report
	Beats    = Span{10 * s, 20 * s}       // between two reports
	Fetch    = Span{20 * s, 80 * s}       // the image of the system
	Drive    = Span{1 * s, 4 * s}         // the config drive behind it
	OS       = Span{40 * s, 90 * s}       // from the boot of the disk to kubelet
	Returns  = Span{60 * s, 120 * s}      // from the power to a node that is ready again
	Retry    = Span{5 * s, 10 * s}        // between two tries of a system to join
	Packet   = Span{200 * 1000, 1000_000} // a question and its answer, in nanoseconds
)

// Waits are those of firmware between DHCP requests; then it boots its disk (PXE 2.1, 2.2.3).
func Waits() []time.Duration { return []time.Duration{4 * s, 8 * s, 16 * s, 32 * s} }

// A ramdisk makes so many DHCP requests, at this interval.
const (
	Asks     = 15
	AskEvery = 8 * s
)

// Ironic, metal3 and Kubernetes.
var (
	Verifies  = Span{1 * s, 4 * s}
	Powers    = Span{2 * s, 6 * s}       // a change of the power by the BMC
	Questions = Span{100 * ms, 800 * ms} // of Ironic to a ramdisk
	Reads     = Span{2 * s, 8 * s}       // what the ramdisk reports of its host
	Cleans    = Span{1 * s, 2 * s}       // nothing is erased
	Starts    = Span{8 * s, 40 * s}
	ServerOn  = Span{1 * s, 15 * s} // the HTTP server has its files
	PodStarts = Span{15 * s, 60 * s}
	ToCluster = Span{60 * s, 300 * s} // from the control plane's nodes to their Ironic
	Misses    = Span{40 * s, 50 * s}  // until Kubernetes misses a node
	Polls     = Span{4 * s, 12 * s}   // of metal3 and of who releases hosts
	Stops     = Span{500 * ms, 5 * s} // a program, in order
	Preflight = Span{2 * s, 10 * s}
	Woken     = Span{2 * ms, 60 * ms} // a program after the event that it waits for
	Adds      = Span{1 * ms, 5 * ms}  // keepalived an address, or takes it away
	Boots     = Span{15 * s, 40 * s}  // from the power of a machine to its programs
	Commands  = Span{5 * s, 30 * s}   // between two of a person
)

const (
	CallBack   = 30 * m  // Ironic waits so long for a ramdisk (deploy_callback_timeout)
	PowerFault = 30 * s  // a BMC that has refused for so long is left alone
	Recovers   = 60 * s  // until Ironic asks it again
	Tolerates  = 120 * s // a pod of a node that Kubernetes misses
	Silent     = 120 * s // a bootstrap machine counts as gone ("hosts release")
	Quiet      = 10 * s  // between two rounds of a program in which nothing can change
	Overtime   = 60 * s  // that a deadline may be noticed late
	After      = 90 * s  // a run goes on after its end
	Hours      = 6 * 60 * m
	Backs      = 30 * s // metal3 tries again what failed
	Resumes    = 3 * m  // a bootstrap machine that has taken provisioning back serves again
)

// Large is the size of a disk, on which every image has room.
const Large = 1 << 40

// Short is a time for people, in whole milliseconds.
func Short(d time.Duration) time.Duration { return d.Round(ms) }

// Whole is Ironic's time, which has no fractions of a second.
func Whole(t time.Time) time.Time { return t.Truncate(s) }

// Milliseconds and Seconds are what a plan states.
func Milliseconds(n int) time.Duration { return time.Duration(n) * ms }

func Seconds(n int) time.Duration { return time.Duration(n) * s }

// Nanoseconds is a time that was drawn.
func Nanoseconds(n int64) time.Duration { return time.Duration(n) }
