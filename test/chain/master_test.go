package chain

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestMasters holds the stand-ins: two of today's masters elect one holder by themselves, and the
// other one takes over.
func TestMasters(t *testing.T) {
	t.Parallel()
	_, masters := network(t)
	observer, err := lab.Observe(APIVIP, 10*time.Millisecond, masters[0].Host, masters[1].Host)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, m := range masters {
		if err := m.Start(ctx); err != nil {
			t.Fatal(err)
		}
		defer m.Stop(context.WithoutCancel(ctx))
	}
	first, err := oneHolder(ctx, observer)
	if err != nil {
		t.Fatalf("%v\n%s", err, masters[0].Log())
	}
	for _, m := range masters {
		if m.Name == first {
			err = m.Stop(ctx)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	second, err := oneHolder(ctx, observer, first)
	if err != nil || second == first {
		t.Errorf("after %s stopped, %q holds the VIP (%v)", first, second, err)
	}
	for _, s := range observer.Stop().Spans {
		t.Logf("%7.3f s held by %v", s.Length().Seconds(), s.Holders)
	}
}

// oneHolder waits until the VIP has one holder, which is none of those.
func oneHolder(ctx context.Context, o *lab.Observer, not ...string) (string, error) {
	for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		if h := o.Holders(); len(h) == 1 && !slices.Contains(not, h[0]) {
			return h[0], nil
		}
	}
	return "", fmt.Errorf("no holder but %v: %w", not, ctx.Err())
}
