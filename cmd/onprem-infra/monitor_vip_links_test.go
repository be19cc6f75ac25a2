//go:build remote

package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// TestKeptLinks holds that links are read once for each word of the kernel, what comes while they
// are read included, and each time while nobody hears the kernel.
func TestKeptLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, news := 0, make(chan struct{})
		lost := make(chan error)
		during := func() {}
		fails := error(nil)
		k := &keptLinks{
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
		look := func(why string, want int) {
			t.Helper()
			synctest.Wait()
			s, err := k.snapshot()
			if reads != want || !errors.Is(err, fails) || err == nil && len(s.Links) != want {
				t.Errorf("%s: read %d times, %d links, %v; want %d", why, reads, len(s.Links), err, want)
			}
		}
		say := func() { news <- struct{}{} }
		look("nobody hears the kernel", 1)
		look("nobody hears the kernel", 2)
		ctx, cancel := context.WithCancel(t.Context())
		wake, ended := loop.NewWake(), make(chan error, 1)
		go func() { ended <- k.follow(ctx, wake) }()
		look("the first word", 3)
		look("nothing new", 3)
		<-wake
		say()
		look("a change", 4)
		<-wake
		during = func() {
			say()
			synctest.Wait()
		}
		say()
		look("a change, and another one meanwhile", 5)
		during = func() {}
		look("that other one", 6)
		fails = errors.New("no answer")
		say()
		look("they cannot be read", 7)
		look("they cannot be read", 8)
		fails = nil
		look("they can again", 9)
		look("nothing new", 9)
		lost <- errors.New("the socket is gone")
		if err := <-ended; err == nil {
			t.Error("nobody hears that the kernel is not heard any more")
		}
		look("nobody hears the kernel", 10)
		look("nobody hears the kernel", 11)
		cancel()
	})
}
