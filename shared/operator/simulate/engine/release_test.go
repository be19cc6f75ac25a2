package engine

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestHandoverToNewNodes has the bootstrap machine's API server end in every phase of the time
// in which the masters begin to serve, to see that their API works and to start keepalived: as long
// as the bootstrap machine serves, some host holds the VIP.
func TestHandoverToNewNodes(t *testing.T) {
	for _, timing := range vrrp.Profiles() {
		c := schedule.Of(timing)
		if c.Bootstrap = true; !c.PrefersHolder() {
			continue // its successor may be of another release, and not report that it has taken over
		}
		for seed := range uint64(400) {
			end := 3*time.Second + time.Duration(seed)*10*time.Millisecond
			s := schedule.Schedule{Seed: seed, Length: end + c.Shutdown}
			for i := range 3 {
				joins := time.Duration(i) * 200 * time.Millisecond
				s.Faults = append(s.Faults,
					schedule.Fault{At: joins, Kind: schedule.Join, Host: schedule.MasterName(i)})
			}
			s.Faults = append(s.Faults,
				schedule.Fault{At: end, Kind: schedule.EndAPI, Host: schedule.BootstrapName})
			r := Run(c, s)
			if len(r.Broken) > 0 {
				t.Fatalf("%s, seed %d: %v", timing.Profile, seed, r.Broken[0])
			}
			if none := r.Longest(func(n int) bool { return n == 0 }); none > world.Slack {
				t.Errorf("%s: the API server ended after %v, and no host had the VIP for %v",
					timing.Profile, end, none)
			}
			if two := r.Longest(func(n int) bool { return n > 1 }); two > world.Slack {
				t.Errorf("%s: the API server ended after %v, and two hosts had the VIP for %v",
					timing.Profile, end, two)
			}
			if r.Moves() == 0 {
				t.Errorf("%s: the API server ended after %v, and the VIP stayed where it was",
					timing.Profile, end)
			}
		}
	}
}
