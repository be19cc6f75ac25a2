package nodeip

import "context"

// Apply writes each file atomically, and last the one that marks all as complete.
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
