package spec

import (
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
)

// The ways. The zero value is ByVRRP.
const (
	ByVRRP = routing.VRRP
	ByBGP  = routing.BGP
	ByBoth = routing.Both
)

// checkRouting holds how virtual IPs are announced to the rest of the description.
func (d *draft) checkRouting(r *document.Report) {
	s := d.settings
	elections := []document.Scalar[string]{s.Timing, s.VRRP, s.Clash, s.Former.Timing,
		s.Former.VRRP}
	for kind, n := range s.VRIDs {
		if kind != "provisioning" {
			elections = append(elections, document.Scalar[string]{At: n.At, Given: n.Given})
		}
	}
	d.routing.Check(r, routing.Around{Addresses: d.Addresses, Elections: elections,
		ControlPlane: d.shape.ControlPlane.Value, Former: s.Former.Management})
}
