package world

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/occupant"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
)

// Stage is what runs on a host.
type Stage int

// The stages.
const (
	Off Stage = iota
	Testing
	Firm   // firmware that asks for an address
	Chain  // iPXE, which asks again
	Loads  // kernel and ramdisk
	Ram    // the ramdisk starts, and asks again
	Agent  // it reports to Ironic
	System // the system of its disk
	Nothing
)

// Host is one host of the description.
type Host struct {
	Index  int
	Plan   provision.Host
	On     bool
	Up     bool // it is a node that works
	Links  Links
	Boot   Boot
	Disk   Disk
	BMC    BMC
	Joined time.Duration // when it first was a node; -1 before
	Ironic Node
	Seat   *Seat  // of a node of the control plane
	Metal3 Metal3 // of a host that the cluster installs
	// Ends means that the API has a pod of Ironic here that is to end, and may still run.
	Ends bool
}

func newHost(i int, p provision.Host) *Host {
	h := &Host{Index: i, Plan: p, Joined: -1}
	h.Metal3.Waits, h.Boot.AskedS = true, -1
	return h
}

// HasJoined reports whether it was a node once.
func (h *Host) HasJoined() bool { return h.Joined >= 0 }

// Event is an event of the host's present boot.
func (h *Host) Event(kind EventKind) Event {
	return Event{Kind: kind, Host: int16(h.Index), Gen: h.Boot.Count}
}

// Boot is a host's present boot.
type Boot struct {
	Count  uint32
	Stage  Stage
	Net    bool // it began from the network
	Tries  int
	AskedS time.Duration // since when it asks; -1 if it has its answer
	First  Answer        // the first one of this boot
	Called bool
}

// Answer is what a DHCP server gives a host.
type Answer struct {
	Server, Address netip.Addr
}

// Disk is the disk that a host's system is on.
type Disk struct {
	Complete bool // image and config drive are there
	Ran      bool // a system was started from it since it was written
	Writing  bool
	Fetched  bool // of the present write
	Failed   bool // the last one
	Since    time.Duration
	At       time.Duration // when an image was last fetched whole; -1 before
	Source   Site
	Origin   uint32 // the boot of the machine that serves the image
}

// BMC is how a host's BMC behaves.
type BMC struct {
	Refuses int
	Since   time.Duration // of the refusal, or of its end
	Past    bool          // it has refused before
}

// Node is a host's node in the Ironic that is to install it.
type Node struct {
	node.Node
	Known bool
	Asked bool // its ramdisk was asked to write
	Gen   uint32
	Due   bool      // its work is to be scheduled
	Boots node.Verb // a boot that was asked for beside the states
}

// Seat is what a control plane node has of the provisioning address.
type Seat struct {
	Programs bool // its programs run
	Instance bool // keepalived has the router
	Master   bool
	Address  bool
	Gone     time.Duration // when the address went
	Gen      uint32        // of the router's timer
	Armed    bool
	Latch    health.Latch
	Probing  bool
	Asks     bool // it is to ask which machine has the address
	Found    occupant.Finding
	Ironic   bool // a pod of it runs there
	Lost     uint32
	Server   *Server
}

// Pod is the pod of the cluster's Ironic that Kubernetes wants.
type Pod struct {
	Node   int // -1 for none
	Gen    uint32
	Runs   bool // Ironic answers
	Begun  bool // it is wanted
	Again  bool // it was wanted before
	Forced bool // to another node
	Paused bool // OpenShift's operator, which makes it; other clusters have none
	// Stopped is whether a person keeps it off.
	Stopped bool
}

// Metal3 is what the cluster has of a host that it installs.
type Metal3 struct {
	Waits       bool // for the handover
	Provisioned bool
	Problem     string
	Next        time.Duration // not before
}

// State is the host's state, in metal3's words.
func (h *Host) State() string {
	switch n := h.Ironic; {
	case h.Metal3.Provisioned:
		return "provisioned"
	case !n.Known || n.State == node.Enroll || n.State == node.Verifying:
		return "registering"
	case n.State == node.Inspecting || n.State == node.InspectWait,
		n.State == node.Manageable && n.Inspected.IsZero():
		return "inspecting"
	case n.State == node.Deploying || n.State == node.DeployWait:
		return "provisioning"
	}
	return "available"
}
