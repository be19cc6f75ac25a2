package schedule

import "github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"

// Kind is a kind of fault.
type Kind = script.Kind

// The kinds. Those that stop something end after Fault.For, when it is set; what a supervisor or
// kubelet restarts by itself comes back by itself.
const (
	KillVRRP       Kind = "kill-vrrp"       // SIGKILL to keepalived's VRRP process
	KillKeepalived Kind = "kill-keepalived" // to all of keepalived, and to its supervisor
	StopKeepalived Kind = "stop-keepalived" // SIGSTOP to all of keepalived; ends by itself
	EndKeepalived  Kind = "end-keepalived"  // SIGTERM to keepalived's supervisor; starts again
	KillLB         Kind = "kill-lb"         // SIGKILL to HAProxy
	StopLB         Kind = "stop-lb"         // SIGSTOP to it
	KillAPI        Kind = "kill-api"        // SIGKILL to the API server
	StopAPI        Kind = "stop-api"        // SIGSTOP to it
	EndAPI         Kind = "end-api"         // SIGTERM to it: not ready, it serves for a while
	KillMCS        Kind = "kill-mcs"        // SIGKILL to the machine config server
	KillMonitor    Kind = "kill-monitor"    // SIGKILL to the monitor of the node's checks
	KillRouter     Kind = "kill-router"     // SIGKILL to the ingress router
	DrainRouter    Kind = "drain-router"    // the ingress router is not ready
	KillDNS        Kind = "kill-dns"        // SIGKILL to the node's name server
	PowerOff       Kind = "power-off"       // the power is cut, and comes back
	Reboot         Kind = "reboot"          // in order
	Cut            Kind = "cut"             // from the network, both ways
	CutIn          Kind = "cut-in"          // it receives nothing
	CutOut         Kind = "cut-out"         // nothing of it arrives
	Loss           Kind = "loss"            // Amount percent of the packets, each way
	Delay          Kind = "delay"           // of each packet that it sends, Amount ms
	Duplicate      Kind = "duplicate"       // Amount percent of what it sends
	Hog            Kind = "hog"             // busy processors: keepalived runs up to Amount ms late
	DiskFull       Kind = "disk-full"       // nothing that an election needs is on a disk
	Join           Kind = "join"            // a new master starts
	Part           Kind = "part"            // its Node is deleted

	// The rest is for the lab. Only stop-vrrp is simulated, as stop-keepalived.
	StopVRRP       Kind = "stop-vrrp"       // SIGSTOP to keepalived's VRRP process alone
	KillDaemon     Kind = "kill-daemon"     // SIGKILL to keepalived without its supervisor
	StopSupervisor Kind = "stop-supervisor" // SIGSTOP to it
	StopMonitor    Kind = "stop-monitor"    // SIGSTOP to the monitor of the node's checks
	KillLBMonitor  Kind = "kill-lb-monitor" // SIGKILL to HAProxy's monitor
	StopLBMonitor  Kind = "stop-lb-monitor" // SIGSTOP to it
)

// Kinds are all kinds.
func Kinds() []Kind {
	return []Kind{
		KillVRRP, KillKeepalived, StopKeepalived, EndKeepalived, KillLB, StopLB, KillAPI, StopAPI,
		EndAPI, KillMCS, KillMonitor, KillRouter, DrainRouter, KillDNS, PowerOff, Reboot, Cut,
		CutIn, CutOut, Loss, Delay, Duplicate, Hog, DiskFull, Join, Part,
	}
}

// labKinds are the kinds for the lab alone.
func labKinds() []Kind {
	return []Kind{StopVRRP, KillDaemon, StopSupervisor, StopMonitor, KillLBMonitor, StopLBMonitor}
}

// Holder names the host that has the VIP when a fault begins.
const Holder = "holder"

// Fault is one fault of a host, or of Holder. Its amount is of Loss and Duplicate in percent, of
// Delay and Hog in milliseconds.
type Fault = script.Fault
