package probe

import (
	"context"
	"time"
)

// Start is how long a server that starts is waited for, in all and per question, and how long the
// next question waits.
type Start struct{ Within, Each, Pause time.Duration }

// Wait asks until an answer is good. Its error is that of the last question that had its time: one
// which the end of the wait cut short says nothing.
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
