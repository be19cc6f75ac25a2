package main

import (
	"context"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// way is how hosts come or go, in a cluster of OpenShift or of any other Kubernetes.
type way interface {
	// Foresee reports all steps, with kubectl's command for each that it can do.
	Foresee(ctx context.Context, report func(text, command string)) error
	// Run does them, and reports each as it begins, or what will be tried again.
	Run(ctx context.Context, report func(text string, failed error)) error
}

// machineWay is that of one host of OpenShift.
type machineWay struct {
	api     *machines.Client
	host    string
	objects []object.Object
	next    scale.Next
}

func (m *machineWay) Run(ctx context.Context, report func(string, error)) error {
	return m.api.Run(ctx, m.host, m.next, m.objects, func(step scale.Step, failed error) {
		report(step.Text(m.host), failed)
	})
}

func (m *machineWay) Foresee(ctx context.Context, report func(text, command string)) error {
	w, err := m.api.World(ctx, m.host)
	if err != nil {
		return err
	}
	all, err := scale.Foresee(w, m.next)
	if err != nil {
		return err
	}
	if all[0].Done && !w.Host.Exists {
		return machines.NoHost(m.host)
	}
	for _, step := range all {
		report(step.Text(m.host), step.Command(m.host))
	}
	return nil
}

// releaseWay is that of all hosts that wait for the handover.
type releaseWay struct{ api *machines.Client }

func (r *releaseWay) Run(ctx context.Context, report func(string, error)) error {
	return r.api.Release(ctx, func(round scale.Round, failed error) {
		report(round.Text(), failed)
	})
}

func (r *releaseWay) Foresee(ctx context.Context, report func(text, command string)) error {
	f, err := r.api.Fleet(ctx)
	if err != nil {
		return err
	}
	for _, round := range scale.ForeseeRelease(f) {
		report(round.Text(), "")
	}
	return nil
}

// run prints in which cluster hosts come or go, and the steps, or does them.
func (s *scaling) run(ctx context.Context, place object.Place, w way) error {
	if err := printMessage(s.std.out, "cluster: %s\n", place.Text()); err != nil {
		return err
	}
	ctx, cancel := untilStopped(ctx)
	defer cancel()
	if s.apply {
		return refusal(w.Run(ctx, s.print))
	}
	n, failed := 0, error(nil)
	err := w.Foresee(ctx, func(text, command string) {
		n++
		text = fmt.Sprintf("%2d. %s\n", n, text)
		if command != "" {
			text += "      " + command + "\n"
		}
		if _, err := fmt.Fprint(s.std.out, text); err != nil && failed == nil {
			failed = err
		}
	})
	if err != nil {
		return refusal(err)
	}
	return failed
}

// print prints what begins now, or what will be tried again.
func (s *scaling) print(text string, failed error) {
	if failed != nil {
		text = "tried again: " + failed.Error()
	}
	_ = printMessage(s.std.out, "%s %s\n", time.Now().Format(time.TimeOnly), text)
}
