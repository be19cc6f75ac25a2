package link

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// TestPace holds that the first change after a rest is woken at once, that those which follow each
// other wake the receiver no more often than every 100 ms, and that the last of them is woken.
func TestPace(t *testing.T) {
	ms := func(all ...int) (at []time.Duration) {
		for _, n := range all {
			at = append(at, time.Duration(n)*time.Millisecond)
		}
		return at
	}
	storm := make([]time.Duration, 0, 1000)
	for i := range cap(storm) {
		storm = append(storm, time.Second+time.Duration(i)*330*time.Microsecond)
	}
	for _, tt := range []struct {
		name          string
		changes, want []time.Duration
	}{
		{name: "one", changes: ms(5), want: ms(5)},
		{name: "far apart", changes: ms(5, 105, 305), want: ms(5, 105, 305)},
		{name: "two in a row", changes: ms(5, 6), want: ms(5, 105)},
		{name: "one within the rest after two in a row", changes: ms(5, 6, 150),
			want: ms(5, 105, 205)},
		{name: "a thousand in a third of a second", changes: storm,
			want: ms(1000, 1100, 1200, 1300, 1400)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin, woken := time.Now(), []time.Duration(nil)
				ctx, cancel := context.WithCancel(t.Context())
				changes, wake := make(chan struct{}, 1), make(chan struct{}, 1)
				go pace(ctx, changes, wake)
				go func() {
					for range wake {
						woken = append(woken, time.Since(begin))
					}
				}()
				for _, at := range tt.changes {
					time.Sleep(time.Until(begin.Add(at)))
					loop.Wake(changes)
				}
				time.Sleep(time.Second)
				cancel()
				synctest.Wait()
				close(wake)
				synctest.Wait()
				if !slices.Equal(woken, tt.want) {
					t.Errorf("woken at %v, want %v", woken, tt.want)
				}
			})
		})
	}
}
