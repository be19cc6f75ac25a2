package release

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// TestAlternatingProbes_MoveNothing holds K-49: whatever the rhythm in which good and bad probes
// alternate, the VIP stays while the bad ones in a row are too few to count. Once it has been
// released, only a good probe brings it back.
func TestAlternatingProbes_MoveNothing(t *testing.T) {
	for bad := 1; bad < health.BootstrapAPI().Fall; bad++ {
		for good := 1; good <= 3; good++ {
			r, at := State{}, time.Now()
			for i := range 1000 {
				at = at.Add(health.BootstrapAPI().Interval)
				probe := Observation{API: health.Ready, At: at}
				if i%(good+bad) >= good {
					probe.API = []health.API{health.Gone, health.NotReady}[i%2]
				}
				var v Verdict
				if r, v = r.Next(probe); !v.Hold {
					t.Fatalf("%d good probes and %d bad ones alternating: released at probe %d: %s", good, bad, i, v.Why)
				}
			}
		}
	}
	gone := Resume(false)
	for i := range 100 {
		probe := Observation{API: []health.API{health.Gone, health.NotReady, health.ShuttingDown}[i%3], At: time.Now()}
		var v Verdict
		if gone, v = gone.Next(probe); v.Hold {
			t.Fatalf("an API that is %s takes the VIP back", probe.API)
		}
	}
}
