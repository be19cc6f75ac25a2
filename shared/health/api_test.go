package health

import "testing"

// Log readers and the status of a unit see these words.
func TestAPIStrings(t *testing.T) {
	for state, want := range map[API]string{
		Unknown: "unknown", Ready: "ready", ShuttingDown: "shutting down", NotReady: "not ready", Untrusted: "not trusted", Gone: "gone", API(99): "unknown",
	} {
		if got := state.String(); got != want {
			t.Errorf("API(%d).String() = %q, want %q", state, got, want)
		}
	}
}

func TestNothingProbedIsNotGone(t *testing.T) {
	var unprobed API
	if unprobed == Gone || unprobed == Ready {
		t.Errorf("the zero value is %v: a machine that has not looked yet must not act", unprobed)
	}
}
