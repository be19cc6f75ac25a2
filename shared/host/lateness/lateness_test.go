package lateness

import (
	"context"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/timingproof"
)

// TestThread holds that a thread is woken at the pace that it asks for, and that its lateness is
// that of the kernel: there is some.
func TestThread(t *testing.T) {
	const during = 500 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	l, _, err := Thread(ctx)
	if err != nil || l.Times == 0 || l.Times > int(during/every)+2 || l.P999 <= 0 || l.Most < l.P999 {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestTally holds how late adverts are: beyond an interval after the one before of that router. A
// release, and adverts of other routers, count for none.
func TestTally(t *testing.T) {
	const ms = time.Millisecond
	a, b := netip.MustParseAddr("192.0.2.11"), netip.MustParseAddr("192.0.2.12")
	seen := tally{routers: []int{14}, of: map[key]*stream{}}
	at := time.Unix(1_800_000_000, 0)
	for _, s := range []struct {
		after    time.Duration
		from     netip.Addr
		router   int
		releases bool
	}{
		{0, a, 14, false}, {100 * ms, a, 14, false}, {103 * ms, a, 14, false}, {90 * ms, a, 14, false}, {10 * ms, a, 15, false},
		{50 * ms, a, 14, true}, {900 * ms, a, 14, false}, {101 * ms, a, 14, false}, {0, b, 14, false},
	} {
		at = at.Add(s.after)
		seen.add(s.from, s.router, 100*ms, s.releases, at)
	}
	want := []timingproof.Sender{{Address: a, Router: 14, Interval: 100 * ms, Late: timingproof.Lateness{Times: 4, P999: 3 * ms, Most: 3 * ms}}}
	if got := seen.senders(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
