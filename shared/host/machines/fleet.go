package machines

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers/objects"
)

// place is where the objects of hosts are.
func (c *Client) place() object.Place {
	if c.Place == (object.Place{}) {
		return object.OpenShiftHosts()
	}
	return c.Place
}

// Hosts is the path of the hosts.
func (c *Client) Hosts() string { return hostsIn(c.place()) }

func hostsIn(p object.Place) string {
	return "/apis/" + object.Metal3 + "/namespaces/" + p.Namespace + "/baremetalhosts"
}

// Host is the path of one host.
func (c *Client) Host(name string) string { return c.Hosts() + "/" + name }

// Secrets is the path of the Secrets beside the hosts.
func (c *Client) Secrets() string {
	return "/api/v1/namespaces/" + c.place().Namespace + "/secrets"
}

// Ironic reads the Deployment of the cluster's own Ironic; the zero value for none.
func (c *Client) Ironic(ctx context.Context) (objects.Deployment, error) {
	d, _, err := c.ironic(ctx)
	return d, err
}

func (c *Client) ironic(ctx context.Context) (d objects.Deployment, found bool, err error) {
	p := c.place()
	found, err = c.API.JSON(ctx, http.MethodGet,
		"/apis/apps/v1/namespaces/"+p.Namespace+"/deployments/"+p.Ironic, nil, &d)
	return d, found, err
}

// Find asks the API where a cluster has the objects of its hosts: at the place that has hosts or,
// if both have some, at the one with the host called name. Without any host it is OpenShift's if
// the API has Machines. The error is a Refusal if both places are possible.
func Find(ctx context.Context, api API, name string) (object.Place, error) {
	var with, named []object.Place
	for _, p := range []object.Place{object.OpenShiftHosts(), object.AnyHosts()} {
		var all list[objects.Host]
		if _, err := api.JSON(ctx, http.MethodGet, hostsIn(p), nil, &all); err != nil {
			return object.Place{}, err
		}
		if len(all.Items) > 0 {
			with = append(with, p)
		}
		for _, h := range all.Items {
			if name != "" && h.Metadata.Name == name {
				named = append(named, p)
			}
		}
	}
	switch {
	case len(with) == 1:
		return with[0], nil
	case len(named) == 1:
		return named[0], nil
	case len(with) > 1:
		return object.Place{}, scale.Refusal{Text: fmt.Sprintf("the cluster has hosts in the "+
			"namespaces %s and %s: name its description by -c, which decides for one of them",
			with[0].Namespace, with[1].Namespace)}
	}
	machines, err := api.JSON(ctx, http.MethodGet, "/apis/"+object.Machine, nil, nil)
	if machines || err != nil {
		return object.OpenShiftHosts(), err
	}
	return object.AnyHosts(), nil
}

// Fleet is what the API has of all hosts; the zero value with an error.
func (c *Client) Fleet(ctx context.Context) (scale.Fleet, error) {
	f := scale.Fleet{Deployment: c.place().Ironic}
	var hosts list[objects.Host]
	if _, err := c.API.JSON(ctx, http.MethodGet, c.Hosts(), nil, &hosts); err != nil {
		return scale.Fleet{}, err
	}
	for _, h := range hosts.Items {
		f.Hosts = append(f.Hosts, h.Scale())
	}
	ironic, found, err := c.ironic(ctx)
	if err != nil {
		return scale.Fleet{}, err
	}
	if found {
		f.Ironic, f.Pods = ironic.Ready(), ironic.Pods()
	}
	if f.Operator, err = c.operator(ctx); err != nil {
		return scale.Fleet{}, err
	}
	if f.Bootstrap, err = c.Bootstrap(ctx); err != nil {
		return scale.Fleet{}, err
	}
	return f, nil
}

// IronicPods are the pods of the cluster's own Ironic that may run, whether its Deployment exists
// or not.
func (c *Client) IronicPods(ctx context.Context) (all []scale.Pod, err error) {
	p := c.place()
	var pods list[objects.Pod]
	_, err = c.API.JSON(ctx, http.MethodGet, "/api/v1/namespaces/"+p.Namespace+
		"/pods?labelSelector="+objects.TemplateHash, nil, &pods)
	for _, one := range pods.Items {
		if one.Of(p.Ironic) && one.MayRun() {
			all = append(all, scale.Pod{Name: one.Metadata.Name, Node: one.Spec.NodeName,
				Ended: one.Metadata.Deletes(), ReplicaSet: one.ReplicaSet()})
		}
	}
	return all, err
}

// operator is whether OpenShift's operator of metal3 is paused. Other clusters have none.
func (c *Client) operator(ctx context.Context) (scale.Operator, error) {
	if !c.place().Machines {
		return scale.Operator{}, nil
	}
	var p objects.Provisioning
	found, err := c.API.JSON(ctx, http.MethodGet, operator, nil, &p)
	if err != nil || !found {
		return scale.Operator{}, err
	}
	return p.Operator(), nil
}

// Pause has OpenShift's operator of metal3 wait for the handover, or go on.
func (c *Client) Pause(ctx context.Context, pause bool) error {
	var value any // null takes the annotation off
	if pause {
		value = object.UntilHandover
	}
	err := c.Patch(ctx, operator, map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{object.OperatorPaused: value}}})
	if err != nil {
		return fmt.Errorf("pause OpenShift's operator of metal3, or let it go on: %w", err)
	}
	return nil
}

// Begin lets metal3 begin with hosts that wait for the handover.
func (c *Client) Begin(ctx context.Context, hosts []string) (err error) {
	for _, name := range hosts {
		err = errors.Join(err, c.Apply(ctx, name, scale.Step{Action: scale.Resume}, nil))
	}
	return err
}
