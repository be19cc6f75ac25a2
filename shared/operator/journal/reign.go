package journal

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Reign is a time in which a host held a VIP.
type Reign struct {
	Instance string     `json:"instance"`
	VIP      netip.Addr `json:"vip,omitzero"`
	From     time.Time  `json:"from"`
	To       time.Time  `json:"to,omitzero"` // absent: it holds it still
	Gained   string     `json:"gained"`      // why
	Lost     string     `json:"lost,omitempty"`
	Unsure   bool       `json:"unsure,omitempty"` // nobody looked when it began or ended: it may have been shorter
}

// Reigns are the times in which the host of some entries held its VIPs, in the order in which they
// began. The entries are in the order of time.
func Reigns(entries []Entry) []Reign {
	var out []Reign
	open := map[string]int{} // the place of a reign that lasts, by instance
	for _, e := range entries {
		if e.Clash != "" {
			continue // its state is what it was
		}
		at, reigns := open[e.Instance]
		if reigns {
			// Also where it is the holder again after a boot: in between it was not.
			out[at].To, out[at].Lost, out[at].Unsure = e.At, e.Why, out[at].Unsure || e.Late
			delete(open, e.Instance)
		}
		if e.State == supervised.Master {
			open[e.Instance] = len(out)
			out = append(out, Reign{Instance: e.Instance, VIP: e.VIP, From: e.At, Gained: e.Why, Unsure: e.Late})
		}
	}
	return out
}
