package supervise

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestChurn holds that three thousand changes of the network within a second turn the loop ten
// times and once more in the end, the first time at once.
func TestChurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c churn
		network := make(chan struct{}, 1)
		go func() {
			time.Sleep(time.Second)
			for range 3000 {
				wake(network)
				time.Sleep(330 * time.Microsecond)
			}
		}()
		begin, turns, first := time.Now(), 0, time.Duration(0)
		for time.Since(begin) < 3*time.Second {
			open, shut := c.gate(network, time.Now())
			due := time.Second
			if !shut.IsZero() {
				due = time.Until(shut)
			}
			select {
			case <-open:
				if c.woke(time.Now()); first == 0 {
					first = time.Since(begin)
				}
				turns++
			case <-time.After(due):
			}
		}
		if first != time.Second || turns != 11 {
			t.Errorf("the first turn after %v, and %d in all; want 1s and 11", first, turns)
		}
		if len(network) != 0 {
			t.Error("the last change was not seen")
		}
	})
}
