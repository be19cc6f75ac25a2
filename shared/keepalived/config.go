// Package keepalived writes keepalived.conf. The same renderer serves the bootstrap machine and the nodes of a cluster: what differs is
// the Config, never the text around it.
package keepalived

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Config is one whole keepalived.conf. Every field has a type that cannot hold text which keepalived would read as syntax.
type Config struct {
	Header     string     // one line of provenance, without the comment sign; empty for none
	NotifyFIFO string     // where keepalived reports VRRP state changes; empty for none
	Checks     []Check    // track scripts, cluster nodes only
	Instances  []Instance // sorted by the caller; order is kept
}

// Check is one tracked script: health as keepalived sees it.
type Check struct {
	Name     vrrp.CheckName
	Command  string        // absolute path of an executable without arguments
	Interval time.Duration // whole seconds: keepalived before 2.3.2 refuses fractions
	Timeout  time.Duration
	Rise     int
	Fall     int
	Weight   int // 0: failing means FAULT
}

// Instance is one virtual router on one interface.
type Instance struct {
	Name      vrrp.InstanceName
	Interface string // a kernel interface name, validated by whoever observed it
	ID        vrrp.ID
	Version   vrrp.Version
	Priority  vrrp.Priority
	Advert    time.Duration
	Source    netip.Addr    // own address in unicast mode; invalid for multicast
	Peers     []netip.Addr  // empty means multicast
	AuthPass  vrrp.AuthPass // empty for none (VRRPv3 has no authentication, RFC 5798 9)
	VIP       netip.Addr
	Checks    []vrrp.CheckName
}
