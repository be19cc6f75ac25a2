// Package keepalived writes and reads keepalived.conf. The same renderer serves the bootstrap
// machine and the nodes of a cluster: what differs is the Config, never the text around it.
package keepalived

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Where keepalived.conf is: on the host, for operators to read, and in keepalived's container.
// There the host's directory has another path, as the image's /etc/keepalived may hold a file
// without which keepalived exits: Debian 13's reads keepalived.config-opts before anything else.
const (
	HostDir = "/etc/keepalived"
	Dir     = "/etc/onprem-keepalived"
	File    = "keepalived.conf"
)

// Config is one whole keepalived.conf. Every field has a type that cannot hold text which
// keepalived would read as syntax; Validate checks one that comes from elsewhere. The JSON names
// are those of supervised.CandidateFile.
type Config struct {
	// Header is one line of provenance, without the comment sign; empty for none.
	Header string `json:"header,omitempty"`
	// NotifyFIFO is where keepalived reports VRRP state changes; empty for none.
	NotifyFIFO Path `json:"notifyFIFO,omitempty"`
	// Checks are track scripts, on nodes of today's clusters only.
	Checks []Check `json:"checks,omitempty"`
	// Leave is a tracked file in which 1 gives every instance the lowest priority, so that any
	// other router outranks it; empty for none.
	Leave Path `json:"leave,omitempty"`
	// Tracks are other tracked files, on cluster nodes only.
	Tracks []Track `json:"tracks,omitempty"`
	// Groups are sets of instances that move together.
	Groups []SyncGroup `json:"groups,omitempty"`
	// Instances are sorted by the caller; their order is kept.
	Instances []Instance `json:"instances,omitempty"`
}

// Check is one tracked script: health as keepalived sees it.
type Check struct {
	Name    vrrp.CheckName `json:"name"`
	Command Path           `json:"command"` // an executable, called without arguments
	// Interval is in whole seconds: keepalived before 2.3.2 refuses fractions.
	Interval time.Duration `json:"interval"`
	Timeout  time.Duration `json:"timeout"` // then a script that hangs is killed; below Interval
	Rise     int           `json:"rise"`
	Fall     int           `json:"fall"`
	Weight   int           `json:"weight"` // 0: failing means FAULT
}

// Track is one tracked file: health as a monitor writes it, a 1 for a check that passes and a 0
// for one that does not. keepalived reads every file that is not there, is empty or does not
// begin with a number as 0, and adds the number times the weight to the priority: health is an
// addition, and a node whose monitor writes nothing has none. keepalived never ages a file.
type Track struct {
	Name   vrrp.CheckName `json:"name"`   // not "leave", which is Config.Leave's
	File   Path           `json:"file"`   // in a directory that is there when keepalived starts
	Weight int            `json:"weight"` // what a 1 adds; with 0 a 1 adds nothing and a 0 is FAULT
}

// SyncGroup is a set of two or more instances that have one state: a fault of one is a fault of
// all. What the group tracks counts for each of them.
type SyncGroup struct {
	Name    vrrp.InstanceName   `json:"name"`
	Members []vrrp.InstanceName `json:"members"`
	// Tracks are of Config.Tracks; every group also tracks Config.Leave.
	Tracks []vrrp.CheckName `json:"tracks,omitempty"`
}

// Instance is one virtual router on one interface.
type Instance struct {
	Name      vrrp.InstanceName `json:"name"`
	Interface Interface         `json:"interface"`
	ID        vrrp.ID           `json:"id"`
	Version   vrrp.Version      `json:"version"`
	Priority  vrrp.Priority     `json:"priority"`
	Advert    time.Duration     `json:"advert"`
	// Refresh is the time between two announcements to the neighbours while it holds the VIP, in
	// whole seconds; 0: a minute.
	Refresh time.Duration `json:"refresh,omitempty"`
	// Source is the local address of unicast mode; invalid in multicast mode.
	Source netip.Addr `json:"source,omitzero"`
	// Peers receive its adverts in unicast mode, and are of the VIP's family; without any the
	// instance is in FAULT.
	Peers []netip.Addr `json:"peers,omitempty"`
	// AuthPass is empty for none (VRRPv3 has no authentication, RFC 5798 9).
	AuthPass vrrp.AuthPass `json:"authPass,omitempty"`
	VIP      netip.Addr    `json:"vip"`
	// Device is the interface that has the VIP, if that is in a network in which the host has no
	// other address; it may be Interface. If it is empty, Interface has the VIP. Without the
	// device, or without its carrier, the instance is in FAULT. Bits is the VIP's prefix length
	// there, by which the host reaches the others of its network.
	Device Interface        `json:"device,omitempty"`
	Bits   int              `json:"bits,omitempty"`
	Checks []vrrp.CheckName `json:"checks,omitempty"`
	// Tracks are of Config.Tracks; every instance also tracks Config.Leave.
	Tracks []vrrp.CheckName `json:"tracks,omitempty"`
	// Grouped means that it is a member of a SyncGroup, which tracks for it.
	Grouped bool `json:"grouped,omitempty"`

	Filter
}

// Filter is which adverts keepalived drops. It is for unicast only, and can change while the VIP is
// held.
type Filter struct {
	// Known drops adverts of routers that are not among the peers.
	Known bool `json:"known,omitempty"`
	// Near drops adverts with a TTL below 255, which have been forwarded, and those of routers that
	// are not among the peers.
	Near bool `json:"near,omitempty"`
}

// Tracked are the files that an instance's priority follows from, by itself and by its groups.
func (c Config) Tracked(i Instance) (files []Track) {
	if c.Leave != "" {
		files = append(files, Track{Name: leaveTrack, File: c.Leave, Weight: leaveWeight})
	}
	names := slices.Clone(i.Tracks)
	for _, g := range c.Groups {
		if slices.Contains(g.Members, i.Name) {
			names = append(names, g.Tracks...)
		}
	}
	for _, t := range c.Tracks {
		if slices.Contains(names, t.Name) {
			files = append(files, t)
		}
	}
	return files
}

// leaveTrack and leaveWeight are the template's, of Config.Leave.
const (
	leaveTrack  = "leave"
	leaveWeight = -253
)

// Group is where the VRRP routers of the VIP's family listen in multicast mode (RFC 5798 5.1.1.2
// and 5.1.2.2).
//
// As the only peer of a unicast instance it lets a router advertise before it knows a peer.
// keepalived keeps an instance over a reload only if it was unicast before and after, with the same
// source. From multicast to unicast it starts anew, and there is no holder for a master down time.
func Group(vip netip.Addr) netip.Addr {
	if vip.Is4() {
		return netip.AddrFrom4([4]byte{224, 0, 0, 18})
	}
	return netip.AddrFrom16([16]byte{0: 0xff, 1: 0x02, 15: 0x12})
}

// Interface is a network interface's name.
type Interface string

// Path is an absolute path without blanks, always a constant of the program: no path of a user's
// comes here.
type Path string

// plain are the characters that mean nothing to keepalived.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// interfaceNameSize is IFNAMSIZ of the kernel, which counts the final zero byte.
const interfaceNameSize = 16

// ParseInterface accepts the names that Linux and keepalived both take as one word: the kernel
// would also allow quotes and braces.
func ParseInterface(name string) (Interface, error) {
	if name == "" || len(name) >= interfaceNameSize || name == "." || name == ".." ||
		strings.Trim(name, plain) != "" {
		return "", fmt.Errorf("interface %q: a name has 1 to %d letters, digits, dots, hyphens "+
			"and underscores", name, interfaceNameSize-1)
	}
	return Interface(name), nil
}
