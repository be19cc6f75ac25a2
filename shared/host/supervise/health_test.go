package supervise

import (
	"testing"
	"time"
)

// TestPulseTaker holds how long a loop may stand: longer than its longest turn, and no longer than
// that for good.
func TestPulseTaker(t *testing.T) {
	var p pulseTaker
	now := time.Now()
	if p.works(now) {
		t.Error("a loop that has never turned works")
	}
	p.turned(now)
	if !p.works(now.Add(testTime + 2*hung + linger)) {
		t.Error("it does not wait for the longest turn")
	}
	if p.works(now.Add(turnBound)) {
		t.Error("a loop that stands works")
	}
	p.turned(now.Add(turnBound))
	if !p.works(now.Add(turnBound)) {
		t.Error("a loop that goes on does not work")
	}
}
