package world

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/fabric"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// Host is a host with its programs.
type Host struct {
	Index int
	Rack  int
	Ports []int // its links
	Power
	Services
	Monitor
	FRR
	Speaker
	Held [2]bool // the VIPs that it has on its loopback device
}

// Power is whether a host runs.
type Power struct {
	On        bool
	Boots     uint32
	Joined    bool // as a control plane node
	Rebooting bool
	Cuts      int // faults by which all its links lose all packets
}

// Program is a program that is not ours: API server, HAProxy, ingress router.
type Program struct {
	On, Hung bool
	Gen      uint32
}

// Services are what serves on a host.
type Services struct {
	API, LB, Ingress Program
	Ready            bool // the API server is ready
	Backed           bool // the balancer has a server that is up
	Draining         bool // the API server announces its shutdown
	Redirect         bool // connections to the API go through the balancer
	Redirecting      bool // the redirect is about to change
	Redirects        uint32
	// Answers and OnLink are of a host whose programs run elsewhere: the VIP's program answers
	// there, and the host has the VIP on an interface as its holder.
	Answers, OnLink bool
}

// Check is one of a monitor's checks.
type Check struct {
	health.Latch
	Phase   time.Duration // of its probes
	Pending bool
	Gen     uint32
}

// Ports is whether a monitor is about to probe the ports behind a VIP, and how often it has found
// them closed.
type Ports struct {
	Pending bool
	Closed  int
}

// Monitor is a host's monitor, with what it wants of the speaker.
type Monitor struct {
	Watches bool // it runs
	Starts  uint32
	Beat    time.Duration // its last one, while it does not run
	Died    bool          // it was killed, and the speaker has noticed that
	Seen    bool          // the gate: it has observed the API
	Checks  [3]Check
	Behind  [2]Ports // behind each VIP
	Wish    [2]bool
	Route   [2]speak.Route
	Ends    bool          // by the plan in force hosts announce nothing any more
	Release release.State // of the bootstrap machine
	Asked   time.Duration // when the last probe of its API began
	Yields  bool
}

// Daemon is a daemon of FRR.
type Daemon struct {
	Runs, Frozen bool
	Gen          uint32
}

// FRR are a host's daemons, with what bgpd is to announce and what it has received.
type FRR struct {
	Zebra, BFD, BGP Daemon
	Wants, Sent     [2]fabric.Path // what its parent wants, and what it announces
	In              [2][]fabric.Path
	Collecting      bool
}

// Speaker is FRR's parent.
type Speaker struct {
	Speaks  bool    // it runs
	Leaving bool    // it is to end, or its host is
	Kept    [2]bool // what routers had when bgpd answered last
	State   speak.State
	Rounds  uint32
	Then    schedule.Kind // what follows when it has left
	For     time.Duration
}

// Closed reports whether nothing listens on a host at the ports behind a VIP.
func (h *Host) Closed(v schedule.VIP) bool {
	if v == schedule.Ingress {
		return !h.Ingress.On
	}
	return !h.LB.On && !h.API.On
}

func newHost(i int, b schedule.Box, ports []int) *Host {
	h := &Host{Index: i, Rack: b.Rack, Ports: ports}
	for v := range h.In {
		h.In[v] = make([]fabric.Path, len(ports))
	}
	return h
}

// Grade is how many AS numbers longer the path to a VIP is to be than the shortest one.
func (m Monitor) Grade(v int) int { return int(m.Route[v].Grade) }

// Works reports whether bgpd works.
func (d Daemon) Works() bool { return d.Runs && !d.Frozen }

// Address stands for a VIP in the product's decision.
func Address(v schedule.VIP) netip.Addr {
	a := netip.IPv4Unspecified().As4()
	a[len(a)-1] = byte(v + 1)
	return netip.AddrFrom4(a)
}
