// Package nodeip chooses the addresses that a node is known by, once in a boot and before kubelet
// starts, and writes them down for kubelet, the container runtime and everybody else on the node.
//
// Unlike the other rooms it ends: Set observes, decides and applies until that has worked once.
package nodeip

import (
	"log/slog"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// The files that say how the node is known, each without a newline at its end, as their readers are
// strict. Primary is written last: as long as it holds an address, all of them are right and
// nothing is chosen anew. /run is empty after a reboot.
const (
	Directory    = "/run/nodeip-configuration"
	Primary      = Directory + "/primary-ip"
	IPv4         = Directory + "/ipv4"
	IPv6         = Directory + "/ipv6"
	RemoteWorker = Directory + "/remote-worker" // there, and empty, on a node that cannot hold the VIPs
	BrExUp       = Directory + "/br-ex-up"      // touched by others when the OVN bridge is up
)

// systemdUnits is where drop-ins of the units of others are put.
const systemdUnits = "/etc/systemd/system"

// Host is what the room needs to know of the machine, and what it may do there.
type Host interface {
	Links() (addr.Snapshot, error)
	// Read returns a file's text and whether there is one.
	Read(path string) (text []byte, there bool, err error)
	// Write replaces a file as a whole; it makes the directories that are missing.
	Write(path string, text []byte) error
	// Remove removes a file; that there is none is no error.
	Remove(path string) error
	// Bind says whether a server could listen on the address now.
	Bind(address netip.Addr) error
	// Switch writes to a setting of the kernel's, and says whether there is such a setting.
	Switch(path, value string) (there bool, err error)
}

// Node is what the node is told of its cluster.
type Node struct {
	addr.Wish
	Platform    string // as an install-config spells it, in whatever case
	UserManaged bool   // the cluster's load balancer is the user's own, and so are the VIPs
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

// New makes a room. With retry a method goes on until it has worked, or its context ends; without,
// the first fault is its error.
func New(node Node, host Host, retry bool, log *slog.Logger) *Room {
	return &Room{node: node, host: host, retry: retry, log: log}
}
