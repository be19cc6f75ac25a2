package release

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// TestAlternatingLooksMoveNothing holds K-49: whatever the rhythm in which good and bad looks take
// turns, the VIP stays while the bad ones in a row are too few to count. Once it has left, what is
// no good look does not bring it back.
func TestAlternatingLooksMoveNothing(t *testing.T) {
	for bad := 1; bad < health.BootstrapAPI().Fall; bad++ {
		for good := 1; good <= 3; good++ {
			r, at := State{}, time.Now()
			for i := range 1000 {
				at = at.Add(health.BootstrapAPI().Interval)
				look := Observation{API: health.Ready, At: at}
				if i%(good+bad) >= good {
					look.API = []health.API{health.Gone, health.NotReady}[i%2]
				}
				var v Verdict
				if r, v = r.Next(look); !v.Hold {
					t.Fatalf("%d good looks and %d bad ones in turns: given up at look %d: %s", good, bad, i, v.Why)
				}
			}
		}
	}
	gone := Resume(false)
	for i := range 100 {
		look := Observation{API: []health.API{health.Gone, health.NotReady, health.ShuttingDown}[i%3], At: time.Now()}
		var v Verdict
		if gone, v = gone.Next(look); v.Hold {
			t.Fatalf("an API that is %s takes the VIP back", look.API)
		}
	}
}
