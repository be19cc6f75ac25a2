package nodeip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

const (
	// bindPause is the pause while an IPv6 address cannot be bound yet: duplicate address detection
	// takes a second or two.
	bindPause = time.Second
	// firstPause doubles with each failed attempt, up to lastPause.
	firstPause = 2 * time.Second
	lastPause  = 300 * time.Second
)

// Show chooses the node's addresses and writes nothing.
func (r *Room) Show(ctx context.Context) (want Desired, err error) {
	err = r.settle(ctx, func(ctx context.Context) (err error) {
		want, err = r.choose(ctx, true)
		return err
	})
	return want, err
}

// Set chooses the node's addresses and writes them down, unless that was done in this boot.
func (r *Room) Set(ctx context.Context) (want Desired, err error) {
	err = r.settle(ctx, func(ctx context.Context) (err error) {
		if want, err = r.choose(ctx, false); err != nil {
			return err
		}
		return r.Apply(ctx, want)
	})
	return want, err
}

// choose decides, anew or unless that was done in this boot, and checks that the chosen
// addresses can be bound. A new IPv6 address cannot be bound at once.
func (r *Room) choose(ctx context.Context, anew bool) (want Desired, err error) {
	seen, err := r.Observe(ctx)
	if err != nil {
		return want, err
	}
	if anew {
		seen.Primary = netip.Addr{}
	}
	want, why, err := r.Decide(seen)
	if err != nil {
		return want, Unusable{err}
	}
	addresses := []netip.Addr{want.Kept} // whichever would be chosen now
	if !want.Kept.IsValid() {
		addresses = want.Choice.Addresses
		for _, a := range addresses {
			if !a.Is6() || a.Is4In6() {
				continue
			}
			if err := r.host.Bind(a); err != nil {
				return want, Unusable{tentativeError{a, err}}
			}
		}
	}
	r.log.Info("decide", "addresses", loop.List(addresses), "why", why.String())
	return want, nil
}

// Unusable is the error of a host that has no address for the node, or none yet.
type Unusable struct{ Err error }

func (u Unusable) Error() string { return u.Err.Error() }

func (u Unusable) Unwrap() error { return u.Err }

// tentativeError is the error of a chosen address that cannot be bound yet.
type tentativeError struct {
	address netip.Addr
	err     error
}

func (t tentativeError) Error() string {
	return fmt.Sprintf("%s is chosen and cannot be used yet, as long as duplicate address "+
		"detection goes on: %v", t.address, t.err)
}

// settle repeats a trial, which observes the host, until it succeeds; without retry it runs once.
func (r *Room) settle(ctx context.Context, trial func(context.Context) error) error {
	var reported loop.News
	pause := firstPause
	for failed := 0; ; failed++ {
		err := trial(ctx)
		if err == nil {
			if failed > 0 {
				r.log.Info("recovered", "trials", failed+1)
			}
			return nil
		}
		if !r.retry || ctx.Err() != nil {
			return err
		}
		wait := pause
		if errors.As(err, new(tentativeError)) {
			wait = bindPause
		} else {
			pause = min(2*pause, lastPause)
		}
		if reported.Is(err.Error()) {
			r.log.Warn("try again", "in", wait, "error", err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}
