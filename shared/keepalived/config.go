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

// Config is one whole keepalived.conf. Every field has a type that cannot hold text which keepalived would read as syntax.
type Config struct {
	Header     string     // one line of provenance, without the comment sign; empty for none
	NotifyFIFO Path       // where keepalived reports VRRP state changes; empty for none
	Checks     []Check    // track scripts, cluster nodes only
	Leave      Path       // a tracked file in which 1 sinks every instance to the lowest priority, so that any other router outranks it; empty for none
	Tracks     []Track    // other tracked files, cluster nodes only
	Instances  []Instance // sorted by the caller; order is kept
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

// Track is one tracked file: health as another program sees it. keepalived reads a number in it when it is written; no file, an empty one and
// one without a number count as 0.
type Track struct {
	Name   vrrp.CheckName // not "leave", which is Config.Leave's
	File   Path
	Weight int // what the priority gains for each one in the number; not 0, which would make everything but 0 a FAULT
}

// Instance is one virtual router on one interface.
type Instance struct {
	Name      vrrp.InstanceName
	Interface Interface
	ID        vrrp.ID
	Version   vrrp.Version
	Priority  vrrp.Priority
	Advert    time.Duration
	Source    netip.Addr    // own address: unicast; invalid: multicast
	Peers     []netip.Addr  // who is told in unicast mode, of the VIP's family; nobody puts the instance into FAULT
	AuthPass  vrrp.AuthPass // empty for none (VRRPv3 has no authentication, RFC 5798 9)
	VIP       netip.Addr
	Checks    []vrrp.CheckName
	Tracks    []vrrp.CheckName // of Config.Tracks; Config.Leave is tracked by every instance unasked
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
