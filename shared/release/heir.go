package release

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// Heir reports whether a control plane node could serve the VIP if it took over.
type Heir int

// What is known of the control plane nodes.
const (
	NoHeir      Heir = iota // too few are known, or none of them serves
	DoubtedHeir             // one serves, but with a certificate that is not trusted here
	ReadyHeir               // the API server of one is ready
)

// HeirAmong judges what probes of the nodes' API servers found.
func HeirAmong(found []health.API) Heir {
	switch {
	case slices.Contains(found, health.Ready):
		return ReadyHeir
	case slices.Contains(found, health.Untrusted):
		return DoubtedHeir
	default:
		return NoHeir
	}
}
