package redirect

import "testing"

// TestLatch holds H-13: the redirect goes at once when a daemon does not serve, and stays over
// fewer late probes than switch it off.
func TestLatch(t *testing.T) {
	var l Latch
	for i, step := range []struct{ healthy, late, on bool }{
		{false, true, false}, {false, false, false}, {true, false, true}, {false, true, true}, {true, true, true}, {true, false, true},
		{false, true, true}, {false, true, true}, {false, true, false}, {false, true, false}, {true, false, true}, {false, false, false}, {false, true, false},
	} {
		if on := l.Take(step.healthy, step.late, 3); on != step.on {
			t.Errorf("step %d: on %t, want %t", i, on, step.on)
		}
	}
}
