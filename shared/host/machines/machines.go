// Package machines reads the hosts, Machines and MachineSets of OpenShift's API as seen from one
// host, and does the steps that add that host to the cluster and remove it.
package machines

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers/objects"
)

// API makes one request to the cluster's API.
type API interface {
	// JSON is as that of package kube.
	JSON(ctx context.Context, method, path string, body, out any) (found bool, err error)
}

// Client reads and changes what the API has of hosts.
type Client struct {
	API API
	// Place is where the objects of hosts are; the zero value is OpenShift's.
	Place object.Place
	// ControlPlane is the label of a control plane node, and Namespace that of our objects; empty
	// for whichever has what the bootstrap machine publishes.
	ControlPlane, Namespace string

	beats map[string]pulse // of the bootstrap machine, by its objects
}

// The paths of OpenShift's Machines and operator, and of nodes.
const (
	inNamespace = "/namespaces/" + object.MachineNamespace + "/"
	machinePath = "/apis/" + object.Machine + inNamespace + "machines"
	setPath     = "/apis/" + object.Machine + inNamespace + "machinesets"
	nodePath    = "/api/v1/nodes"
	operator    = "/apis/" + object.Metal3 + "/provisionings/" + object.Operator
)

// World is what the API has, seen from a host.
func (c *Client) World(ctx context.Context, name string) (w scale.World, err error) {
	if err := PlainName(name); err != nil {
		return w, err
	}
	var all list[objects.Host]
	_, err = c.API.JSON(ctx, http.MethodGet, c.Hosts(), nil, &all)
	if err != nil {
		return w, err
	}
	w.Host.Name = name
	for _, h := range all.Items {
		switch is := h.Scale(); {
		case is.Name == name:
			w.Host = is
		case is.State == "available" && is.Consumer == "" && is.Problem == "" && !is.Paused &&
			!is.External && !is.Deleting:
			w.Spares = append(w.Spares, is.Name)
		}
	}
	if err := c.machines(ctx, &w); err != nil {
		return w, err
	}
	if err := c.nodes(ctx, &w); err != nil {
		return w, err
	}
	return w, c.rest(ctx, &w)
}

// PlainName returns an error for what cannot be a host's name: the name becomes a part of a path,
// and a request with an empty one would be about all hosts.
func PlainName(name string) error {
	if !names.MatchString(name) || len(name) > 253 {
		return scale.Refusal{Text: fmt.Sprintf("%q is no name of a host", name)}
	}
	return nil
}

var names = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)

// machines reads the MachineSets, and the Machine that the host belongs to: the one that it names,
// or else the one that names it.
func (c *Client) machines(ctx context.Context, w *scale.World) error {
	var all list[objects.Machine]
	var sets list[set]
	for path, out := range map[string]any{machinePath: &all, setPath: &sets} {
		if _, err := c.API.JSON(ctx, http.MethodGet, path, nil, out); err != nil {
			return err
		}
	}
	for _, m := range all.Items {
		switch {
		case w.Host.Consumer == "Machine "+m.Metadata.Name:
			if w.Machine != nil {
				w.Other = w.Machine.Name
			}
			w.Machine = m.Scale()
		case m.Metadata.Annotations[objects.HostOf] != object.MachineNamespace+"/"+w.Host.Name:
		case w.Machine != nil:
			w.Other = m.Metadata.Name
		default:
			w.Machine = m.Scale()
		}
	}
	for _, m := range all.Items {
		if !m.Metadata.Deletes() && m.Metadata.Annotations[objects.HostOf] == "" {
			w.Idle = append(w.Idle, scale.Idle{Name: m.Metadata.Name, Set: m.Set()})
		}
	}
	for _, s := range sets.Items {
		w.Sets = append(w.Sets, s.read(all.Items))
	}
	slices.SortFunc(w.Sets, func(a, b scale.Set) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// nodes reads the nodes that count: those of the control plane, and the host's own.
func (c *Client) nodes(ctx context.Context, w *scale.World) error {
	for _, label := range []string{c.ControlPlane, objects.Arbiters} {
		var members list[objects.Node]
		all := nodePath + "?labelSelector=" + url.QueryEscape(label)
		if _, err := c.API.JSON(ctx, http.MethodGet, all, nil, &members); err != nil {
			return err
		}
		for _, n := range members.Items {
			w.Nodes = add(w.Nodes, n.Scale(c.ControlPlane))
		}
	}
	if w.Machine == nil { // its node may have the host's name with a domain
		var all list[objects.Node]
		_, err := c.API.JSON(ctx, http.MethodGet, nodePath, nil, &all)
		for _, n := range all.Items {
			if scale.OfHost(n.Metadata.Name, w.Host.Name) {
				w.Nodes = add(w.Nodes, n.Scale(c.ControlPlane))
			}
		}
		return err
	}
	own := cmp.Or(w.Machine.Node, w.Host.Name)
	var n objects.Node
	found, err := c.API.JSON(ctx, http.MethodGet, nodePath+"/"+own, nil, &n)
	if found {
		w.Nodes = add(w.Nodes, n.Scale(c.ControlPlane))
	}
	return err
}

// add adds a node that is not among them.
func add(nodes []scale.Node, n scale.Node) []scale.Node {
	if slices.ContainsFunc(nodes, func(o scale.Node) bool { return o.Name == n.Name }) {
		return nodes
	}
	return append(nodes, n)
}

// rest reads on which nodes ingress routers are ready, and whether the bootstrap machine is there.
func (c *Client) rest(ctx context.Context, w *scale.World) error {
	var slicesOf list[struct {
		Endpoints []struct {
			NodeName   string
			Conditions struct{ Ready *bool }
		} `json:"endpoints"`
	}]
	path := "/apis/discovery.k8s.io/v1/namespaces/" + health.RouterNamespace +
		"/endpointslices?labelSelector=kubernetes.io/service-name%3D" + health.RouterService
	if _, err := c.API.JSON(ctx, http.MethodGet, path, nil, &slicesOf); err != nil {
		return err
	}
	for _, s := range slicesOf.Items {
		for _, e := range s.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				w.Ingress = append(w.Ingress, e.NodeName)
			}
		}
	}
	slices.Sort(w.Ingress)
	w.Ingress = slices.Compact(w.Ingress)
	var err error
	w.Bootstrap, err = c.Bootstrap(ctx)
	return err
}
