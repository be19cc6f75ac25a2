// Package absent is how a node's monitor reports why keepalived has no instance of a VIP there, or
// why the node announces no VIP.
package absent

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// File is where the monitor writes it, below supervised.RunDir: a list of Instance in JSON.
const File = "checks/absent.json"

// Instance is a VRRP instance that a node could have, and has not.
type Instance struct {
	Name vrrp.InstanceName `json:"instance"`
	Why  string            `json:"why"` // for people; the wording may change
}

// Why is the reason in a list for the instance of a name; empty if the list does not have it.
func Why(all []Instance, name vrrp.InstanceName) string {
	for _, i := range all {
		if i.Name == name {
			return i.Why
		}
	}
	return ""
}

// VIPsFile is where the monitor writes which VIPs the node does not announce to its routers, below
// supervised.RunDir: a list of VIP in JSON.
const VIPsFile = "checks/unannounced.json"

// VIP is a VIP that a node could announce to its routers, and does not.
type VIP struct {
	VIP netip.Addr `json:"vip"`
	Why string     `json:"why"` // for people; the wording may change
}
