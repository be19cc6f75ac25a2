package resolv

import (
	"context"
	"errors"
	"fmt"
)

// Apply brings the machine to what is desired and writes only what differs, as each write is news to somebody. The marker comes last, also when
// nothing had to be written; once set it stays. When all is done, and still is a moment later, the room turns no more.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	err := errors.Join(r.applyConfig(ctx, d), r.applyDropIn(ctx, d), r.applyHostname(ctx, d))
	if err != nil || !d.Done {
		return err
	}
	if _, err := r.host.Write(Marker, []byte{}); err != nil {
		return fmt.Errorf("let kubelet start: %w", err)
	}
	switch now := r.host.Now(); {
	case r.done.IsZero():
		r.done = now
		r.host.Later(settle)
	case now.Sub(r.done) >= settle:
		r.host.End()
	}
	return nil
}

func (r *Room) applyConfig(ctx context.Context, d Desired) error {
	if d.ResolvConf == nil {
		return nil
	}
	changed, err := r.host.Write(Config, d.ResolvConf)
	if err != nil {
		return fmt.Errorf("write %s: %w", Config, err)
	}
	if !changed {
		return nil
	}
	r.done = r.done.Truncate(0)
	if err := r.host.ReloadNetworkManager(ctx); err != nil {
		return fmt.Errorf("have NetworkManager look up the host name again: %w", err)
	}
	return nil
}

func (r *Room) applyDropIn(ctx context.Context, d Desired) error {
	if d.DropIn == nil {
		return nil
	}
	changed, err := r.host.Write(DropIn, d.DropIn)
	if err != nil {
		return fmt.Errorf("write %s: %w", DropIn, err)
	}
	if r.stale = r.stale || changed; !r.stale {
		return nil
	}
	if err := r.host.RestartResolved(ctx); err != nil {
		return fmt.Errorf("restart systemd-resolved: %w", err)
	}
	r.stale = false
	return nil
}

func (r *Room) applyHostname(ctx context.Context, d Desired) error {
	if d.Hostname == "" {
		return nil
	}
	if err := r.host.SetHostname(ctx, d.Hostname); err != nil {
		return fmt.Errorf("name this machine %s: %w", d.Hostname, err)
	}
	return nil
}
