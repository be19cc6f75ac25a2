// Package absent is how a node's monitor reports why keepalived has no instance of a VIP there.
package absent

import "github.com/onprem-infra/onprem-infra/shared/vrrp"

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
