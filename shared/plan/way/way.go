// Package way names how the nodes of a cluster hold its VIPs, in one word that they announce to
// each other.
package way

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Way is how the nodes of a cluster hold VIPs together. Nodes of two timings or modes of VRRP do
// not receive each other's adverts, so that there are dual holders. Whether they also announce the
// VIPs to their routers may differ between them.
type Way struct {
	Timing string    `json:"timing"` // profile
	Mode   spec.Mode `json:"vrrp"`
	// Management is empty for VRRP alone.
	Management spec.Management `json:"vipManagement,omitempty"`
}

// Of is a way. Its Management is empty for VRRP alone.
func Of(timing string, mode spec.Mode, management spec.Management) Way {
	if management == spec.ByVRRP {
		management = ""
	}
	return Way{Timing: timing, Mode: mode, Management: management}
}

// String is the way in one word, such as "lan/unicast", or "lan/unicast/both" beside BGP.
func (w Way) String() string {
	text := w.Timing + "/" + string(w.Mode)
	if w.Management != "" {
		text += "/" + string(w.Management)
	}
	return text
}

// Parse reads what String made; parts that are missing are empty.
func Parse(text string) Way {
	timing, rest, _ := strings.Cut(text, "/")
	mode, management, _ := strings.Cut(rest, "/")
	return Way{Timing: timing, Mode: spec.Mode(mode), Management: spec.Management(management)}
}
