package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// holders expects that these hosts, and no other, hold the VIP.
func holders(o *lab.Observer, want ...string) error {
	if got := o.Holders(); !slices.Equal(got, want) {
		return fmt.Errorf("held by %v, want %v", got, want)
	}
	return nil
}

// story is who has held the VIP since then, and for how long.
func story(o *lab.Observer, since time.Time) string {
	var parts []string
	spans := o.Report().Spans
	for i, s := range spans {
		if s.To.Before(since) {
			continue
		}
		holders := strings.Join(s.Holders, " and ")
		if holders == "" {
			holders = "nobody"
		}
		if i < len(spans)-1 {
			from := s.From
			if from.Before(since) {
				from = since
			}
			holders += fmt.Sprintf(" %.1f s", s.To.Sub(from).Seconds())
		}
		parts = append(parts, holders)
	}
	return strings.Join(parts, ", ")
}

// moved is how long after a fault the bootstrap machine let the VIP go, and which master had it
// alone how long after it.
func moved(o *lab.Observer, begin time.Time) (left, taken time.Duration, by string, err error) {
	for _, s := range spansSince(o, begin) {
		switch {
		case slices.Contains(s.Holders, "bootstrap"):
		case left == 0:
			left = s.From.Sub(begin)
			fallthrough
		default:
			if len(s.Holders) == 1 {
				return left, s.From.Sub(begin), s.Holders[0], nil
			}
		}
	}
	return left, 0, "", fmt.Errorf("held by %v", o.Holders())
}

// spansSince are the spans from a time on, the first of which may have begun before.
func spansSince(o *lab.Observer, begin time.Time) []lab.Span {
	spans := o.Report().Spans
	for len(spans) > 1 && !spans[1].From.After(begin) {
		spans = spans[1:]
	}
	return spans
}

// noDoubles expects that since a time no two hosts have held the VIP for longer than an
// advertisement.
func noDoubles(t *testing.T, o *lab.Observer, since time.Time) {
	t.Helper()
	for _, d := range o.Report().Doubles() {
		if d.To.After(since) && d.Length() > oneAdvert {
			t.Errorf("two holders for %s: %v", d.Length(), d.Holders)
		}
	}
}

// unbroken says that the bootstrap machine alone has held the VIP since it first did.
func unbroken(t *testing.T, o *lab.Observer) {
	t.Helper()
	r := o.Report()
	if r.Err != nil || len(r.Gaps()) > 0 || len(r.Doubles()) > 0 || !slices.Equal(o.Holders(), []string{"bootstrap"}) {
		t.Errorf("the VIP was not always here (%v)", r.Err)
		show(t, r)
	}
}
