package probe

import (
	"context"
	"time"
)

// Start bounds the wait for a server that starts: Within is for all of it, Each for one question,
// and Pause is the time between two questions.
type Start struct{ Within, Each, Pause time.Duration }

// Wait calls ask until that returns nil. Otherwise it returns the error of the last question that
// the end of the wait did not cut short.
func (s Start) Wait(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.Within)
	defer cancel()
	var last error
	for {
		err := s.once(ctx, ask)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(s.Pause):
		}
	}
}

func (s Start) once(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.Each)
	defer cancel()
	return ask(ctx)
}
