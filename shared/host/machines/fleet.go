package machines

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
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
func (c *Client) Ironic(ctx context.Context) (d objects.Deployment, err error) {
	p := c.place()
	_, err = c.API.JSON(ctx, http.MethodGet,
		"/apis/apps/v1/namespaces/"+p.Namespace+"/deployments/"+p.Ironic, nil, &d)
	return d, err
}

// Find is where a cluster has the objects of its hosts, as the cluster itself has them: the place
// with hosts, or of two such places the one with the host of a name. Without any host it is that of
// the operators that the API knows. The error is a Refusal if both places could be meant.
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
	ironic, err := c.Ironic(ctx)
	if err != nil {
		return scale.Fleet{}, err
	}
	f.Ironic = ironic.Status.ReadyReplicas > 0
	if f.Bootstrap, err = c.Bootstrap(ctx); err != nil {
		return scale.Fleet{}, err
	}
	return f, nil
}

// Bootstrap reports whether the bootstrap machine has published itself, has not left, and beats.
func (c *Client) Bootstrap(ctx context.Context) (bool, error) {
	p, found, err := c.published(ctx)
	return found && err == nil && c.beats(p), err
}

// beats reports whether the bootstrap machine has not left, and beats.
func (c *Client) beats(p published) bool {
	if notice.BootstrapLeft(p.Data) {
		return false
	}
	if beat := p.Data[notice.Beat]; beat != c.beat || c.since.IsZero() {
		c.beat, c.since = beat, time.Now()
	}
	return time.Since(c.since) < stale
}

// published is the bootstrap machine's object. ManagedFields are the API's: when which program
// changed it last.
type published struct {
	Metadata struct {
		ManagedFields []struct{ Time time.Time } `json:"managedFields"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
}

// published reads what the bootstrap machine has published of itself. Without a namespace it is
// sought in all of them: a description may have chosen any.
func (c *Client) published(ctx context.Context) (p published, found bool, err error) {
	if c.Namespace != "" {
		path := fmt.Sprintf("/api/v1/namespaces/%s/configmaps/%s", c.Namespace, notice.Bootstrap)
		found, err = c.API.JSON(ctx, http.MethodGet, path, nil, &p)
		return p, found, err
	}
	var all list[published]
	_, err = c.API.JSON(ctx, http.MethodGet,
		"/api/v1/configmaps?fieldSelector=metadata.name%3D"+notice.Bootstrap, nil, &all)
	for _, one := range all.Items {
		if !found || notice.BootstrapLeft(p.Data) {
			p, found = one, true
		}
	}
	return p, found, err
}
