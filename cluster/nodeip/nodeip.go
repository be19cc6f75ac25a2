// Package nodeip chooses the node's addresses once in a boot, before kubelet starts, and records
// them for kubelet, the container runtime and other programs on the node.
//
// Unlike the other rooms it ends: Set observes, decides and applies until that succeeds once.
package nodeip

import (
	"log/slog"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// The files that record the addresses. They end without a newline, as their readers are strict.
// Primary is written last: if it holds an address, all files are complete and nothing is chosen
// again. /run is empty after a reboot.
const (
	Directory    = "/run/nodeip-configuration"
	Primary      = Directory + "/primary-ip"
	IPv4         = Directory + "/ipv4"
	IPv6         = Directory + "/ipv6"
	RemoteWorker = Directory + "/remote-worker" // exists, empty, if the node can hold no VIP
	BrExUp       = Directory + "/br-ex-up"      // by another program when the OVN bridge is up
)

// systemdUnits is the directory of drop-ins for kubelet's and CRI-O's units.
const systemdUnits = "/etc/systemd/system"

// Host is the machine as the room reads and changes it.
type Host interface {
	Links() (addr.Snapshot, error)
	// Read returns a file's text and whether it exists.
	Read(path string) (text []byte, there bool, err error)
	// Write replaces a file atomically and creates missing directories.
	Write(path string, text []byte) error
	// Remove removes a file; a missing one is no error.
	Remove(path string) error
	// Bind returns an error if a server cannot listen on the address now.
	Bind(address netip.Addr) error
	// Switch writes a kernel setting and reports whether it exists.
	Switch(path, value string) (there bool, err error)
}

// Node is what the cluster description and the command line specify for the node.
type Node struct {
	addr.Wish
	Platform    string // as in an install-config, in any case
	UserManaged bool   // the cluster's load balancer is the user's own, and so are the VIPs
	Routed      bool   // hosts only announce the VIPs to their routers, from any network
	KubeletUnit string // NAME.service
	RemoteLabel string // the key of the label that a remote worker's Node gets
}

// Room is the node's addresses. Its methods are for one goroutine.
type Room struct {
	node  Node
	host  Host
	retry bool
	log   *slog.Logger
}

// New makes a room. With retry a method repeats until it succeeds or its context ends; without, it
// returns the first error.
func New(node Node, host Host, retry bool, log *slog.Logger) *Room {
	return &Room{node: node, host: host, retry: retry, log: log}
}
