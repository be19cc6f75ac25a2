package machines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// every is the time between two reads of the API. What is waited for takes minutes.
const every = 2 * time.Second

// final is an error of the API that another attempt would get too, as for a change that it
// refuses.
type final interface{ Final() bool }

func ends(err error) bool {
	var f final
	return errors.As(err, new(scale.Refusal)) || errors.As(err, &f) && f.Final()
}

// Run does the steps of a host until they are done, or next or the API refuses one. report gets
// each step that differs from the one before it, and errors of reading or changing the API, after
// which Run tries again. It returns an error of the first read, as of a wrong kubeconfig.
func (c *Client) Run(ctx context.Context, host string, next scale.Next, objects []object.Object,
	report func(step scale.Step, failed error)) error {
	if _, err := c.World(ctx, host); err != nil {
		return err
	}
	var last scale.Step
	did := false
	one := func(ctx context.Context) (bool, error) {
		w, err := c.World(ctx, host)
		if err != nil {
			return false, err
		}
		s, err := next(w)
		if err == nil && s.Done && !w.Host.Exists {
			err = c.Gone(ctx, host, did)
		}
		if err != nil {
			return false, err
		}
		if s != last {
			report(s, nil)
		}
		last, did = s, true
		return s.Done, c.Apply(ctx, host, s, objects)
	}
	return Until(ctx, one, func(err error) { report(scale.Step{}, err) })
}

// NoHost is the refusal for a host that the API does not have.
func NoHost(host string) scale.Refusal {
	return scale.Refusal{Text: fmt.Sprintf("the cluster has no host %s", host)}
}

// Gone deletes what is left of a host that is gone. If nothing is, and nothing was done before,
// there was no such host.
func (c *Client) Gone(ctx context.Context, host string, did bool) error {
	found, err := c.Forget(ctx, host)
	if err == nil && !found && !did {
		return NoHost(host)
	}
	return err
}

// Until repeats rounds until one is the last, or ends by an error that another round would have
// too. Failed gets other errors, each once in a row.
func Until(ctx context.Context, round func(context.Context) (last bool, err error),
	failed func(error)) error {
	trouble := ""
	for {
		last, err := round(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case ends(err):
			return err
		case err == nil && last:
			return nil
		case err == nil:
			trouble = ""
		case err.Error() != trouble:
			trouble = err.Error()
			failed(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
	}
}

// Release lets hosts begin that wait for the handover, until none waits. report is as in Run.
func (c *Client) Release(
	ctx context.Context, report func(round scale.Round, failed error),
) error {
	if _, err := c.Fleet(ctx); err != nil {
		return err
	}
	var text string
	one := func(ctx context.Context) (bool, error) {
		f, err := c.Fleet(ctx)
		if err != nil {
			return false, err // without the whole of it nothing begins
		}
		round := scale.Release(f)
		if round.Text() != text {
			text = round.Text()
			report(round, nil)
		}
		return round.Done, c.Begin(ctx, round.Release)
	}
	return Until(ctx, one, func(err error) { report(scale.Round{}, err) })
}
