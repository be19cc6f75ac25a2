package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
)

// TestLongTimes measures both ends of the VIP's life, ten times: from ExecStart to the address, and
// from the stop to its absence.
func TestLongTimes(t *testing.T) {
	needLong(t)
	c, _ := booted(t)
	var up, gone times
	for range 10 {
		gone = append(gone, stopUnit(t, c))
		up = append(up, startUnit(t, c))
	}
	t.Logf("VIP up after ExecStart: %s", up)
	t.Logf("VIP gone after systemctl stop: %s", gone)
	if up.median() > 5*time.Second {
		t.Errorf("VIP up: %s, want a median of 5 s", up)
	}
	if slices.Max(gone) > 200*time.Millisecond {
		t.Errorf("VIP gone: %s, want 200 ms", gone)
	}
}

func startUnit(t *testing.T, c *chain.Chain) time.Duration {
	t.Helper()
	up, err := c.StartVIP(t.Context())
	must(t, err)
	return up
}
