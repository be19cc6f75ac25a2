package barehosts

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale/bare"
)

// Run does the steps of the host until all are done, or until the decision or the API refuses
// one. report gets each step that differs from the one before it, and the errors of the API after
// which Run tries again. The first read must succeed: a wrong kubeconfig does not correct itself.
func (c *Client) Run(ctx context.Context, report func(text string, failed error)) error {
	if _, err := c.World(ctx); err != nil {
		return err
	}
	last, did := "", false
	one := func(ctx context.Context) (bool, error) {
		w, err := c.World(ctx)
		if err != nil {
			return false, err
		}
		s, err := c.Next(w)
		if err == nil && s.Done && !w.Host.Exists {
			err = c.Gone(ctx, c.Name, did)
		}
		if err != nil {
			return false, err
		}
		if text := s.Text(c.Name); text != last {
			report(text, nil)
			last = text
		}
		did = true
		return s.Done, c.apply(ctx, s)
	}
	return machines.Until(ctx, one, func(err error) { report("", err) })
}

// Foresee is all steps from now on, with kubectl's command for each, if nothing fails.
func (c *Client) Foresee(ctx context.Context, report func(text, command string)) error {
	w, err := c.World(ctx)
	if err != nil {
		return err
	}
	all, err := bare.Foresee(w, c.Next)
	if err != nil {
		return err
	}
	if all[0].Done && !w.Host.Exists {
		return machines.NoHost(c.Name)
	}
	for _, s := range all {
		report(s.Text(c.Name), s.Command(c.Name))
	}
	return nil
}

// apply does a step that does not wait.
func (c *Client) apply(ctx context.Context, s bare.Step) error {
	fields := func(spec map[string]any) error {
		change := map[string]any{"spec": spec}
		if s.Version != "" { // another one may have changed the host: the API compares
			change["metadata"] = map[string]any{"resourceVersion": s.Version}
		}
		return c.Patch(ctx, c.Host(c.Name), change)
	}
	switch s.Action {
	case bare.Create:
		return c.Create(ctx, c.Objects)
	case bare.Resume:
		return c.Client.Apply(ctx, c.Name, scale.Step{Action: scale.Resume}, nil)
	case bare.Deploy:
		if err := c.Create(ctx, c.Document); err != nil {
			return err
		}
		return fields(bare.Deployed(c.Name, s.Image))
	case bare.Note:
		var node any // null takes the annotation off
		if s.Node != "" {
			node = s.Node
		}
		return c.Patch(ctx, c.Host(c.Name), map[string]any{"metadata": map[string]any{
			"annotations": map[string]any{object.NodeOf: node}}})
	case bare.Renew:
		return c.Create(ctx, c.Document)
	case bare.Cordon:
		return c.Patch(ctx, nodePath+"/"+s.Node, map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{bare.Leaves: c.Name}},
			"spec":     map[string]any{"unschedulable": true}})
	case bare.Evict:
		return c.evict(ctx, s.Pods)
	case bare.Wipe:
		return fields(bare.Wiped())
	case bare.Off:
		return fields(map[string]any{"online": false})
	case bare.Unlist:
		_, err := c.API.JSON(ctx, http.MethodDelete, nodePath+"/"+s.Node, nil, nil)
		return err
	case bare.Delete:
		return c.Client.Apply(ctx, c.Name, scale.Step{Action: scale.Delete}, nil)
	}
	return nil
}

// later is a refusal of the API that may pass: the same request may succeed at another time.
type later interface{ Why() string }

// evict asks the API to evict pods. It notes refusals that may pass, as by a PodDisruptionBudget.
func (c *Client) evict(ctx context.Context, pods []bare.Pod) (err error) {
	if c.refused == nil {
		c.refused = map[string]refusal{}
	}
	for _, p := range pods {
		// The UID spares a new pod of the same name, which may run elsewhere meanwhile.
		_, one := c.API.JSON(ctx, http.MethodPost, "/api/v1/namespaces/"+p.Namespace+"/pods/"+
			p.Name+"/eviction", map[string]any{"apiVersion": "policy/v1", "kind": "Eviction",
			"metadata":      map[string]any{"name": p.Name, "namespace": p.Namespace},
			"deleteOptions": map[string]any{"preconditions": map[string]any{"uid": p.UID}}}, nil)
		delete(c.refused, p.String())
		var no later
		if errors.As(one, &no) {
			c.refused[p.String()], one = refusal{no.Why(), time.Now()}, nil
		}
		err = errors.Join(err, one)
	}
	return err
}
