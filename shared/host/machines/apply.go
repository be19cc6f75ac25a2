package machines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers/objects"
)

// Apply does a step, unless that only waits. objects are those of the host, for the step Create.
func (c *Client) Apply(
	ctx context.Context, host string, s scale.Step, objects []object.Object,
) error {
	annotate := func(path, key string, value any) error {
		return c.Patch(ctx, path, map[string]any{"metadata": map[string]any{
			"annotations": map[string]any{key: value}}})
	}
	switch s.Action {
	case scale.Create:
		return c.Create(ctx, objects)
	case scale.Resume:
		return annotate(c.Host(host), object.Paused, nil)
	case scale.Raise, scale.Lower:
		// Another client may have changed the replicas since: the API compares the version.
		return c.Patch(ctx, setPath+"/"+s.Set, map[string]any{
			"metadata": map[string]any{"resourceVersion": s.Version},
			"spec":     map[string]any{"replicas": s.Replicas}})
	case scale.Mark:
		return annotate(machinePath+"/"+s.Machine, scale.DeleteFirst, "yes")
	case scale.Discard:
		_, err := c.delete(ctx, machinePath+"/"+s.Machine)
		return err
	case scale.Off:
		return c.Patch(ctx, c.Host(host), map[string]any{"spec": map[string]any{"online": false}})
	case scale.Delete:
		_, err := c.delete(ctx, c.Host(host))
		return err
	}
	return nil
}

// Forget deletes the Secrets of a host that is gone, as far as they are ours. any reports whether
// there was one.
func (c *Client) Forget(ctx context.Context, host string) (any bool, err error) {
	for _, name := range []string{object.AccountOf(host), object.NetworkOf(host),
		object.UserDataOf(host)} {
		path := c.Secrets() + "/" + name
		var is struct {
			Metadata objects.Meta `json:"metadata"`
		}
		_, one := c.API.JSON(ctx, http.MethodGet, path, nil, &is)
		if one == nil && is.Metadata.Labels[object.ManagedBy] == object.Program {
			any = true
			_, one = c.delete(ctx, path)
		}
		err = errors.Join(err, one)
	}
	return any, err
}

// Patch changes fields of an object that exists (RFC 7396).
func (c *Client) Patch(ctx context.Context, path string, change map[string]any) error {
	found, err := c.API.JSON(ctx, http.MethodPatch, path, change, nil)
	if err == nil && !found {
		return fmt.Errorf("change %s: it does not exist any more", path)
	}
	return err
}

func (c *Client) delete(ctx context.Context, path string) (found bool, err error) {
	return c.API.JSON(ctx, http.MethodDelete, path, nil, nil)
}

// Create makes the objects of a host. A Secret that an earlier trial has left gets the data of now.
func (c *Client) Create(ctx context.Context, objects []object.Object) error {
	for _, o := range objects {
		about := o.About()
		collection := c.Secrets()
		if about.Kind == "BareMetalHost" {
			collection = c.Hosts()
		}
		path := collection + "/" + about.Metadata.Name
		body, err := plain(o)
		if err != nil {
			return err
		}
		found, err := c.API.JSON(ctx, http.MethodGet, path, nil, nil)
		switch {
		case err != nil:
		case !found:
			found, err = c.API.JSON(ctx, http.MethodPost, collection, body, nil)
			if err == nil && !found {
				err = fmt.Errorf("create %s: the API has no such collection: name the kubeconfig "+
					"of a cluster with metal3's types: %s", path, c.place().Text())
			}
		case about.Kind == "Secret":
			_, err = c.API.JSON(ctx, http.MethodPatch, path, body, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plain encodes an object as JSON, by way of YAML: its types support YAML alone.
func plain(o object.Object) (json.RawMessage, error) {
	var fields map[string]any
	if err := yaml.Unmarshal(object.Encode(o), &fields); err != nil {
		return nil, fmt.Errorf("read a manifest of ours: %w", err)
	}
	return json.Marshal(fields)
}
