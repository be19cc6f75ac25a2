package resolv

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Apply writes only what differs, because each write wakes watchers of the file. The marker comes
// last, also if nothing had to be written, and is never removed. The loop ends if all is still done
// a moment later.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	if err := errors.Join(r.applyConfig(d), r.applyDropIn(ctx, d)); err != nil {
		return err
	}
	// A failure to set the local host name does not keep kubelet waiting.
	named := errors.Join(r.applyHostname(ctx, d), r.reloadNetworkManager(ctx))
	if !d.Done {
		return named
	}
	if _, err := r.host.Write(r.names.ResolvMarker, []byte{}); err != nil {
		return errors.Join(fmt.Errorf("let kubelet start: %w", err), named)
	}
	switch now := r.host.Now(); {
	case r.done.IsZero():
		r.done = now
		r.host.Later(settle)
	case now.Sub(r.done) >= settle:
		r.host.End()
	}
	return named
}

func (r *Room) applyConfig(d Desired) error {
	if d.ResolvConf == nil {
		return nil
	}
	changed, err := r.host.Write(Config, d.ResolvConf)
	if err != nil {
		return fmt.Errorf("write %s: %w", Config, err)
	}
	if changed {
		r.changed, r.done = true, time.Time{}
	}
	return nil
}

// applyDropIn restarts systemd-resolved after each change of the drop-in, and once a boot: an
// earlier run may have ended between the write and the restart.
func (r *Room) applyDropIn(ctx context.Context, d Desired) error {
	if d.DropIn == nil {
		return nil
	}
	changed, err := r.host.Write(r.names.ResolvedDropIn, d.DropIn)
	if err != nil {
		return fmt.Errorf("write %s: %w", r.names.ResolvedDropIn, err)
	}
	if changed {
		r.done = time.Time{}
	}
	if r.owed = r.owed || changed || !d.Marked && !r.restarted; !r.owed {
		return nil
	}
	if err := r.host.RestartResolved(ctx); err != nil {
		return fmt.Errorf("restart systemd-resolved: %w", err)
	}
	r.restarted, r.owed = true, false
	return nil
}

// reloadNetworkManager makes NetworkManager resolve the host name with the new name servers, once
// for each change of the file.
func (r *Room) reloadNetworkManager(ctx context.Context) error {
	if !r.changed {
		return nil
	}
	r.changed = false
	if err := r.host.ReloadNetworkManager(ctx); err != nil {
		return fmt.Errorf("have NetworkManager resolve the host name again: %w", err)
	}
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
