package facts

import (
	"net/netip"
	"time"
)

// Machine is the host below our programs.
type Machine struct {
	Kernel   string // its release, such as 6.1.0-18-amd64
	Unsynced string // why the kernel reports an unsynchronised clock; empty if it is synchronised
	Clocks   []Clock
	Programs []Program
	Ranges   []Range
	Limits   *Limits
	Timing   Timing

	Files       []File
	Statics     []Static
	Credentials *Credentials

	// Of a plain host.
	Ports  []Port
	Images []Image
}

// Timing is how hosts keep to the proof of their timing.
type Timing struct {
	FellBack string // the timing that the cluster should have and has not; empty if it has it
	// Waits is what keeps the nodes from changing to a slower one, for which a node has asked;
	// empty if none has, or they have agreed.
	Waits []string
	// Unproven is this host's name if it may hold a VIP, and there is no proof of it; else empty.
	Unproven string
}

// Clock is the clock of another host.
type Clock struct {
	Host   string
	Server bool          // a time server that this host is configured to follow
	Ahead  time.Duration // of this host's clock
}

// Program is one that the host needs.
type Program struct {
	Name    string
	Version string // empty: it is not installed
	Needs   string // the oldest version that is new enough
	TooOld  bool
	Why     string // it is needed
}

// Range is a range of addresses that a DHCP server leases.
type Range struct {
	First, Last netip.Addr
	Source      string // the file that configures it
}

// Limits are what this host's kernel leaves to our programs.
type Limits struct {
	Dir         string // in which programs exchange files
	Bytes       uint64 // free in its file system
	Files       uint64 // that can be created there
	Unwatchable string // why no more files can be watched; empty if they can
}

// File is one that differs from the plan.
type File struct {
	Path string
	How  string // in words
}

// Static is a manifest by which kubelet runs a daemon on a bootstrap machine instead of our unit.
type Static struct {
	Daemon, Unit, Path string
	Ours               bool // the pod runs our program too
}

// Credentials are kubelet's, with which monitors ask the API.
type Credentials struct {
	Kubeconfig string   // its path
	Directory  bool     // there is a directory in its place
	Mounted    []string // directories of certificates that monitors have
	Outside    []string // files that it needs, and that are in none of them
}

// Port is one at which a program of ours will listen.
type Port struct {
	Name   string
	Number uint16
	Owner  string
	Taken  string // why no program can listen there; empty if one can
}

// Image is one of the plan's.
type Image struct {
	Key, Reference string
	Fault          string // why it cannot be pulled; empty if it can
}
