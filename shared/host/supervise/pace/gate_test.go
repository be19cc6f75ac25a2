package pace

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// TestGate_ManyChanges holds that three thousand changes of the network within a second cause ten
// rounds and one more in the end, the first one at once.
func TestGate_ManyChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		network := make(chan struct{}, 1)
		go func() {
			time.Sleep(time.Second)
			for range 3000 {
				loop.Wake(network)
				time.Sleep(330 * time.Microsecond)
			}
		}()
		begin, rounds, first := time.Now(), 0, time.Duration(0)
		for time.Since(begin) < 3*time.Second {
			open, opens := g.Open(network, time.Now())
			due := time.Second
			if !opens.IsZero() {
				due = time.Until(opens)
			}
			select {
			case <-open:
				if g.Close(time.Now()); first == 0 {
					first = time.Since(begin)
				}
				rounds++
			case <-time.After(due):
			}
		}
		if first != time.Second || rounds != 11 {
			t.Errorf("the first round after %v, and %d in all; want 1s and 11", first, rounds)
		}
		if len(network) != 0 {
			t.Error("the last change was not seen")
		}
	})
}
