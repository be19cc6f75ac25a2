package link

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// TestCache holds that links are read once for each change that the kernel reports, also for one
// during a read, and each time while no watch runs.
func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, news := 0, make(chan struct{})
		lost := make(chan error)
		during := func() {}
		fails := error(nil)
		k := &Cache{
			read: func() (addr.Snapshot, error) {
				reads++
				during()
				return addr.Snapshot{Links: make([]addr.Link, reads)}, fails
			},
			watch: func(ctx context.Context, wake chan<- struct{}) error {
				loop.Wake(wake)
				for {
					select {
					case <-news:
						loop.Wake(wake)
					case err := <-lost:
						return err
					case <-ctx.Done():
						return nil
					}
				}
			},
		}
		read := func(why string, want int) {
			t.Helper()
			synctest.Wait()
			s, err := k.Snapshot()
			if reads != want || !errors.Is(err, fails) || err == nil && len(s.Links) != want {
				t.Errorf("%s: read %d times, %d links, %v; want %d", why, reads, len(s.Links), err, want)
			}
		}
		change := func() { news <- struct{}{} }
		read("no watch runs", 1)
		read("no watch runs", 2)
		ctx, cancel := context.WithCancel(t.Context())
		wake, ended := make(chan struct{}, 1), make(chan error, 1)
		go func() { ended <- k.Watch(ctx, wake) }()
		read("the first report", 3)
		read("nothing new", 3)
		<-wake
		change()
		read("a change", 4)
		<-wake
		during = func() {
			change()
			synctest.Wait()
		}
		change()
		read("a change, and another one meanwhile", 5)
		during = func() {}
		read("that other one", 6)
		fails = errors.New("no answer")
		change()
		read("they cannot be read", 7)
		read("they cannot be read", 8)
		fails = nil
		read("they can again", 9)
		read("nothing new", 9)
		lost <- errors.New("the socket is gone")
		if err := <-ended; err == nil {
			t.Error("the end of the watch is not reported")
		}
		read("no watch runs", 10)
		read("no watch runs", 11)
		cancel()
	})
}
