package first

import (
	"testing"
	"time"
)

// TestRounds holds that a loop without a round for RoundBound is not healthy until it goes on.
func TestRounds(t *testing.T) {
	var r Rounds
	now := time.Now()
	if r.healthy(now) {
		t.Error("a loop without a round is healthy")
	}
	r.Began(now)
	if !r.healthy(now.Add(RoundBound - 1)) {
		t.Error("a long round is not waited for")
	}
	if r.healthy(now.Add(RoundBound)) {
		t.Error("a loop that hangs is healthy")
	}
	r.Began(now.Add(RoundBound))
	if !r.healthy(now.Add(RoundBound)) {
		t.Error("a loop that goes on is not healthy")
	}
}
