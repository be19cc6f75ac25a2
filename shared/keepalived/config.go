// Package keepalived writes keepalived.conf. The same renderer serves the bootstrap machine and the nodes of a cluster: what differs is
// the Config, never the text around it.
package keepalived

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Where keepalived.conf is: on the host, for operators to read, and in keepalived's container. There
// the host's directory has a place of its own, as the image's /etc/keepalived may hold a file that
// keepalived ends without: Debian 13's reads keepalived.config-opts before anything else.
const (
	HostDir = "/etc/keepalived"
	Dir     = "/etc/onprem-keepalived"
	File    = "keepalived.conf"
)

// Config is one whole keepalived.conf. Every field has a type that cannot hold text which keepalived would read as syntax.
type Config struct {
	Header     string      // one line of provenance, without the comment sign; empty for none
	NotifyFIFO Path        // where keepalived reports VRRP state changes; empty for none
	Checks     []Check     // track scripts, cluster nodes only
	Leave      Path        // a tracked file in which 1 sinks every instance to the lowest priority, so that any other router outranks it; empty for none
	Tracks     []Track     // other tracked files, cluster nodes only
	Groups     []SyncGroup // of instances that move together
	Instances  []Instance  // sorted by the caller; order is kept
}

// Check is one tracked script: health as keepalived sees it.
type Check struct {
	Name     vrrp.CheckName
	Command  Path          // an executable, called without arguments
	Interval time.Duration // whole seconds: keepalived before 2.3.2 refuses fractions
	Timeout  time.Duration // when to kill a script that hangs; below the interval
	Rise     int
	Fall     int
	Weight   int // 0: failing means FAULT
}

// Track is one tracked file: health as a monitor writes it, a 1 for a check that passes and a 0 for one that does not. keepalived reads every
// file that is not there, is empty or does not begin with a number as 0, and adds the number times the weight to the priority: so health is a
// bonus, and whoever is silent has none. It never ages a file.
type Track struct {
	Name   vrrp.CheckName // not "leave", which is Config.Leave's
	File   Path           // in a directory that is there when keepalived starts
	Weight int            // what a 1 adds; with 0 a 1 adds nothing and a 0 is FAULT
}

// SyncGroup is a set of two or more instances that have one state: a fault of one is a fault of all. What the group tracks counts for each of
// them.
type SyncGroup struct {
	Name    vrrp.InstanceName
	Members []vrrp.InstanceName
	Tracks  []vrrp.CheckName // of Config.Tracks; Config.Leave is tracked unasked
}

// Instance is one virtual router on one interface.
type Instance struct {
	Name      vrrp.InstanceName
	Interface Interface
	ID        vrrp.ID
	Version   vrrp.Version
	Priority  vrrp.Priority
	Advert    time.Duration
	Refresh   time.Duration // between two announcements to the neighbours while it holds the VIP, in whole seconds; 0: a minute
	Source    netip.Addr    // own address: unicast; invalid: multicast
	Peers     []netip.Addr  // who is told in unicast mode, of the VIP's family; nobody puts the instance into FAULT
	AuthPass  vrrp.AuthPass // empty for none (VRRPv3 has no authentication, RFC 5798 9)
	VIP       netip.Addr
	Checks    []vrrp.CheckName
	Tracks    []vrrp.CheckName // of Config.Tracks; Config.Leave is tracked by every instance unasked
	Grouped   bool             // it is a member of a SyncGroup, which tracks for it

	// Known has adverts dropped that come from nobody among Peers. Near has those dropped that have passed a router, so that their TTL is not
	// 255 any more; keepalived then knows its peers as well. Both are for unicast only, and both can change while the VIP is held.
	Known bool
	Near  bool
}

// Group is where the VRRP routers of the VIP's family listen in multicast mode (RFC 5798 5.1.1.2 and 5.1.2.2).
//
// As the only peer of a unicast instance it lets a router speak before it knows anybody: keepalived takes an instance over a reload only when
// it was unicast before and after, with the same source. From multicast to unicast it starts anew, and the VIP is away for a master down time.
func Group(vip netip.Addr) netip.Addr {
	if vip.Is4() {
		return netip.AddrFrom4([4]byte{224, 0, 0, 18})
	}
	return netip.AddrFrom16([16]byte{0: 0xff, 1: 0x02, 15: 0x12})
}

// Interface is a network interface's name.
type Interface string

// Path is an absolute path without blanks, always a constant of the program: no path of a user's comes here.
type Path string

// plain are the characters that mean nothing to keepalived.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// interfaceNameSize is IFNAMSIZ of the kernel, which counts the final zero byte.
const interfaceNameSize = 16

// ParseInterface accepts the names that Linux and keepalived both take as one word: the kernel would also allow quotes and braces.
func ParseInterface(name string) (Interface, error) {
	if name == "" || len(name) >= interfaceNameSize || name == "." || name == ".." || strings.Trim(name, plain) != "" {
		return "", fmt.Errorf("interface %q: a name has 1 to %d letters, digits, dots, hyphens and underscores", name, interfaceNameSize-1)
	}
	return Interface(name), nil
}
