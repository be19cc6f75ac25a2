package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestShape(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		same       bool
	}{
		{
			"a source port",
			"read tcp 192.0.2.10:43210->192.0.2.1:5000: read: connection reset by peer",
			"read tcp 192.0.2.10:51002->192.0.2.1:5000: read: connection reset by peer", true,
		},
		{
			"a temporary file",
			`storing blob to file "/var/tmp/storage3509421651/1": unexpected EOF`,
			`storing blob to file "/var/tmp/storage22/2": unexpected EOF`, true,
		},
		{"a count of trials", "retrying in 1s ... (1/3)", "retrying in 2m3.5s ... (3/3)", true},
		{
			"a time", "token expired at 2026-01-02T03:04:05Z",
			"token expired at 2026-11-12T13:14:15.123+01:00", true,
		},
		{
			"a request's UUID", "unavailable (request 56eba55b-0e12-40c4-baac-94a4c7ac569b)",
			"unavailable (request 0e8a834d-3945-45a9-beef-37b8bbd301b7)", true,
		},
		{
			"a request's opaque number", "RequestId: 4KX9ZQ1T: slow down",
			"RequestId: Q0AB7C: slow down", true,
		},
		{
			"another cause", "dial tcp 192.0.2.1:5000: connection refused",
			"dial tcp 192.0.2.1:5000: no route to host", false,
		},
		{
			"another step of the way", "TLS handshake timeout",
			"unauthorized: authentication required", false,
		},
		{
			"a file that is not there", "open config.json: no such file",
			"open auth.json: no such file", false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if a, b := shape(tt.a), shape(tt.b); (a == b) != tt.same {
				t.Errorf("same: %t, want %t:\n%s\n%s", a == b, tt.same, a, b)
			}
		})
	}
}

// TestFault_LoggedOnceForEachText runs a loop with faults for an hour, one round every ten seconds.
func TestFault_LoggedOnceForEachText(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(round int) string
		want  int // lines
	}{
		{"other numbers each time", func(n int) string {
			return fmt.Sprintf("port %d: reset", 40000+n)
		}, 1},
		{"two ways by turns", func(n int) string { return []string{"refused", "timeout"}[n%2] }, 2},
		{"two ways, each for ten minutes", func(n int) string {
			return []string{"refused", "timeout"}[n/60%2]
		}, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &room{apply: func(_ context.Context, n int) error {
				return errors.New(tt.fault(n - 1))
			}}
			log, _ := run(t, r, func(chan<- struct{}) { time.Sleep(359 * every) })
			if got := strings.Count(log, "level=WARN"); got != tt.want {
				t.Errorf("%d lines, want %d:\n%s", got, tt.want, log)
			}
		})
	}
}
