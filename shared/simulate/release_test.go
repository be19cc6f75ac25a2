package simulate

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/shared/health"
)

// TestRelease holds that the stop logic is the bootstrap machine's own, over looks by chance.
func TestRelease(t *testing.T) {
	seen := []health.API{health.Ready, health.Ready, health.ShuttingDown, health.NotReady, health.Gone}
	d := newRand(1)
	for range 2000 {
		real, ours := vip.Resume(true), release{phase: holding}
		for look := range 30 {
			api, heir := seen[d.IntN(len(seen))], vip.NoHeir
			if d.IntN(2) == 0 {
				heir = vip.ReadyHeir
			}
			var want vip.Verdict
			var hold bool
			real, want = real.Next(vip.Look{At: time.Unix(int64(look), 0), API: api, Heir: heir})
			ours, hold = ours.next(api, heir == vip.ReadyHeir, health.BootstrapAPI().Fall)
			if hold != want.Hold || ours.yields != want.Yield {
				t.Fatalf("look %d: holds %t and yields %t, and the machine %+v", look, hold, ours.yields, want)
			}
		}
	}
}
