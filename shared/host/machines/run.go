package machines

import (
	"context"
	"errors"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// every is the time between two looks at the API. What is waited for takes minutes.
const every = 2 * time.Second

// Run does the steps of a host until they are done, or one is refused. Report gets each step that
// differs from the one before it, and what keeps the API from being read or changed, which is tried
// again.
func (c *Client) Run(ctx context.Context, host string, next scale.Next, objects []object.Object,
	report func(step scale.Step, failed error)) error {
	var last scale.Step
	var trouble string
	for {
		s, err := c.round(ctx, host, next, objects, func(s scale.Step) {
			if s != last {
				report(s, nil)
			}
			last = s
		})
		switch {
		case errors.As(err, new(scale.Refusal)):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && s.Done:
			return nil
		case err == nil:
			trouble = ""
		case err.Error() != trouble:
			trouble = err.Error()
			report(scale.Step{}, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
	}
}

// round does one step.
func (c *Client) round(ctx context.Context, host string, next scale.Next, objects []object.Object,
	begin func(scale.Step)) (scale.Step, error) {
	w, err := c.World(ctx, host)
	if err != nil {
		return scale.Step{}, err
	}
	s, err := next(w)
	if err != nil {
		return s, err
	}
	begin(s)
	if s.Done && !w.Host.Exists {
		return s, c.Forget(ctx, host)
	}
	return s, c.Apply(ctx, host, s, objects)
}

// Release has hosts begin that wait for the handover, until none waits. Report is as that of Run.
func (c *Client) Release(ctx context.Context, report func(round scale.Round, failed error)) error {
	var last string
	for {
		f, err := c.Fleet(ctx)
		round := scale.Release(f)
		if text := round.Text(); err == nil && text != last {
			last = text
			report(round, nil)
		}
		for _, name := range round.Release {
			err = errors.Join(err, c.Apply(ctx, name, scale.Step{Action: scale.Resume}, nil))
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && round.Done:
			return nil
		case err != nil && err.Error() != last:
			last = err.Error()
			report(scale.Round{}, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
	}
}
