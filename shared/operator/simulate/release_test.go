package simulate

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestHandOverToWhoJustBegan has the bootstrap machine's API server end in every phase of the time
// in which the masters begin to serve, to see that their API works and to start keepalived: as long
// as the bootstrap machine serves, somebody holds the VIP.
func TestHandOverToWhoJustBegan(t *testing.T) {
	for _, timing := range vrrp.Profiles() {
		c := Of(timing)
		if c.Bootstrap = true; !c.promises() {
			continue // beside others it must not wait: it would not hear who has taken over
		}
		for seed := range uint64(400) {
			end := 3*time.Second + time.Duration(seed)*10*time.Millisecond
			s := Schedule{Seed: seed, Length: end + c.Shutdown}
			for i := range 3 {
				joins := time.Duration(i) * 200 * time.Millisecond
				s.Faults = append(s.Faults, Fault{At: joins, Kind: Join, Host: masterName(i)})
			}
			s.Faults = append(s.Faults, Fault{At: end, Kind: EndAPI, Host: bootstrapName})
			r := Run(c, s)
			if len(r.Broken) > 0 {
				t.Fatalf("%s, seed %d: %v", timing.Profile, seed, r.Broken[0])
			}
			if none := r.longest(func(n int) bool { return n == 0 }); none > slack {
				t.Errorf("%s: the API server ended after %v, and nobody had the VIP for %v", timing.Profile, end, none)
			}
			if two := r.longest(func(n int) bool { return n > 1 }); two > slack {
				t.Errorf("%s: the API server ended after %v, and two had the VIP for %v", timing.Profile, end, two)
			}
			if r.moves() == 0 {
				t.Errorf("%s: the API server ended after %v, and the VIP stayed where it was", timing.Profile, end)
			}
		}
	}
}
