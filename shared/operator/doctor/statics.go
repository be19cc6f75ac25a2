package doctor

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// statics finds static pods of the Machine Config Operator's own on a bootstrap machine: our
// daemons have left their places to them.
func statics(f Facts) (out []Finding) {
	for _, s := range f.Statics {
		if s.Ours {
			continue
		}
		do := "lay the templates of `onprem-infra mco` over the operator, or leave it so for this installation"
		if s.Daemon == "keepalived" && f.Plan.Timing.Profile != vrrp.ProfileCompat {
			do = fmt.Sprintf("lay the templates of `onprem-infra mco` over the operator, or give nodes the timing %s: "+
				"with the timing %s they do not understand that keepalived, and hold the VIP beside it",
				vrrp.ProfileCompat, f.Plan.Timing.Profile)
		}
		out = append(out, Finding{
			Looked: "what runs " + s.Daemon + " on this bootstrap machine",
			Seen:   fmt.Sprintf("kubelet, from %s, which is not of onprem-infra: %s has left", s.Path, s.Unit),
			Do:     do,
		})
	}
	return out
}
