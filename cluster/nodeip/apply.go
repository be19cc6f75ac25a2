package nodeip

import (
	"context"
)

// Apply writes what was decided, each file whole or not at all, and last the one that says that all
// are there.
func (r *Room) Apply(ctx context.Context, want Desired) error {
	for _, f := range want.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.Text == nil {
			if err := r.host.Remove(f.Path); err != nil {
				return err
			}
			continue
		}
		if err := r.host.Write(f.Path, f.Text); err != nil {
			return err
		}
	}
	return nil
}
