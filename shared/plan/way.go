package plan

import "github.com/onprem-infra/onprem-infra/shared/spec"

// Way is how the nodes of a cluster send VRRP to each other. Nodes of two ways do not receive each
// other's adverts, so that there are dual holders.
type Way struct {
	Timing string    `json:"timing"` // profile
	Mode   spec.Mode `json:"vrrp"`
}

// String is the way in one word, such as "lan/unicast".
func (w Way) String() string { return w.Timing + "/" + string(w.Mode) }

// Way is how the cluster's nodes send VRRP, or will after a migration.
func (p Plan) Way() Way { return Way{Timing: p.Timing.Profile, Mode: p.VRRP.Mode} }
