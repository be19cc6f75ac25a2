package daemon

import (
	"context"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// UnderWay is the error while the image is being pulled, which may take hours and is no failure.
type UnderWay struct{ Image string }

func (u UnderWay) Error() string { return "pulls image " + u.Image }

// pull is a pull in progress.
type pull struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // valid when ended is closed
}

// startPull starts a pull, whose end requests a round. Only the first attempt is logged; the
// error describes the others.
func (k *Keeper) startPull(ctx context.Context, image string) error {
	if k.failure == nil {
		k.Log.Info("pull image", "image", image)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it outlives the round
	p := &pull{cancel: cancel, ended: make(chan struct{})}
	k.pull = p
	go func() {
		p.err = k.Engine.Pull(ctx, image, k.AuthFile)
		close(p.ended)
		loop.Wake(k.Wake)
	}()
	return UnderWay{image}
}

// finishPull handles the end of a pull. It returns nil if no pull is in progress.
func (k *Keeper) finishPull(image string) error {
	if k.pull == nil {
		return nil
	}
	select {
	case <-k.pull.ended:
	default:
		return UnderWay{image}
	}
	err := k.pull.err
	k.cancelPull()()
	if err != nil {
		return costly{err}
	}
	k.Log.Info("image is here", "image", image)
	return nil
}

// cancelPull cancels a pull; the returned function waits for its end.
func (k *Keeper) cancelPull() (wait func()) {
	p := k.pull
	if p == nil {
		return func() {}
	}
	k.pull = nil
	p.cancel()
	return func() { <-p.ended }
}
