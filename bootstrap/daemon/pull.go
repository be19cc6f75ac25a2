package daemon

import (
	"context"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// UnderWay is why there is no container yet when nothing is wrong: its image is being pulled, which
// may take hours.
type UnderWay struct{ Image string }

func (u UnderWay) Error() string { return "pulls image " + u.Image }

// pull is a pull that goes on while its keeper does other things.
type pull struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // valid when ended is closed
}

// fetch begins a pull, whose end wakes the room. The first one is news, and so is one that
// succeeds; what the others say is what is wrong.
func (k *Keeper) fetch(ctx context.Context, image string) error {
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

// fetched takes note of the end of a pull, and is nil when there is none to wait for.
func (k *Keeper) fetched(image string) error {
	if k.pull == nil {
		return nil
	}
	select {
	case <-k.pull.ended:
	default:
		return UnderWay{image}
	}
	err := k.pull.err
	k.forgo()()
	if err != nil {
		return costly{err}
	}
	k.Log.Info("image is here", "image", image)
	return nil
}

// forgo ends a pull, and the function that it returns waits for that.
func (k *Keeper) forgo() (wait func()) {
	p := k.pull
	if p == nil {
		return func() {}
	}
	k.pull = nil
	p.cancel()
	return func() { <-p.ended }
}
