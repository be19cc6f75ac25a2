//go:build remote

package main

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
)

// TestFetched holds what the servers' events say of a disk: the image, or a range of it, may be on
// it, and a transfer that broke off has not come to its end.
func TestFetched(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	for kind, want := range map[string]time.Time{"image": at, "broken": {}, "head": {}, "kernel": {}} {
		if got := fetched([]events.Event{{Time: at, Source: events.HTTP, Kind: kind}}); got != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
}
