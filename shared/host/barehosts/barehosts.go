// Package barehosts reads what the API of any Kubernetes has of hosts, of their nodes and of the
// pods there, and does the steps by which a host comes and goes.
package barehosts

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale/bare"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers/objects"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Client reads and changes what the API has of one host. Next decides the step that comes next,
// by which the host is added or removed.
type Client struct {
	*machines.Client
	Name string
	Next bare.Next
	// Drains means that the host leaves, so that the pods of its node are read.
	Drains bool
	// Node is the name of the host's node; empty if it is the host's.
	Node string
	// Remote is the label of a node that is on another network than the VIPs.
	Remote string
	// Objects are those of a host that comes, and Document the Secret by which it joins.
	Objects, Document []object.Object

	nodes   []objects.Node // all of them, at read
	read    time.Time
	refused map[string]refusal // evictions, by the pod
}

// every is the least time between two reads of all nodes. They are read while the host's own node
// is not found by its name.
const every = 15 * time.Second

const nodePath = "/api/v1/nodes"

type list[T any] struct {
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []T `json:"items"`
}

// World is what the API has, seen from the host.
func (c *Client) World(ctx context.Context) (w bare.World, err error) {
	if err := machines.PlainName(c.Name); err != nil {
		return w, err
	}
	var hosts list[objects.Host]
	if _, err := c.API.JSON(ctx, http.MethodGet, c.Hosts(), nil, &hosts); err != nil {
		return w, err
	}
	w.Host.Name = c.Name
	known := []scale.Host{{Name: c.Name}} // also a host that is still to be made
	ours := false                         // its user data is our Secret
	for _, h := range hosts.Items {
		is := h.Scale()
		if known = append(known, is); is.Name == c.Name {
			w.Host = bare.Host{Host: is, Image: h.Deploys(), Version: h.Metadata.ResourceVersion}
			ours = h.Spec.UserData != nil && h.Spec.UserData.Name == object.UserDataOf(c.Name)
		}
	}
	ironic, err := c.Ironic(ctx)
	if err != nil {
		return w, err
	}
	w.Ironic, w.Deployment = ironic.Ready(), object.AnyHosts().Ironic
	if w.Bootstrap, err = c.Bootstrap(ctx); err != nil {
		return w, err
	}
	if err := c.node(ctx, &w, known); err != nil {
		return w, err
	}
	switch {
	case c.Drains && w.Node != nil:
		err = c.stays(ctx, &w)
	case !c.Drains:
		if w.Unlisted, err = c.unlisted(ctx); err == nil && ours {
			w.Outdated, err = c.outdated(ctx)
		}
	}
	return w, err
}

// outdated reports whether the host's Secret has another document than the given one; false if none
// is given.
func (c *Client) outdated(ctx context.Context) (bool, error) {
	for _, o := range c.Document {
		given, _ := o.(object.Secret)
		var is struct{ Data map[string]string }
		_, err := c.API.JSON(ctx, http.MethodGet, c.Secrets()+"/"+o.About().Metadata.Name, nil, &is)
		if err != nil || !maps.Equal(is.Data, given.Data) {
			return err == nil, err
		}
	}
	return false, nil
}

// unlisted reports whether the description that Ironic has lacks the host; false for an Ironic of
// the user's own, which has none.
func (c *Client) unlisted(ctx context.Context) (bool, error) {
	p := object.AnyHosts()
	var config struct{ Data map[string]string }
	_, err := c.API.JSON(ctx, http.MethodGet, "/api/v1/namespaces/"+p.Namespace+"/configmaps/"+
		p.Ironic, nil, &config)
	text := config.Data[path.Base(plan.Path)]
	if err != nil || text == "" {
		return false, err
	}
	var described struct {
		Spec struct {
			Hosts []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(text), &described); err != nil {
		return false, fmt.Errorf("read the description in ConfigMap %s/%s: %w", p.Namespace,
			p.Ironic, err)
	}
	return !slices.ContainsFunc(described.Spec.Hosts, func(h struct{ Name string }) bool {
		return h.Name == c.Name
	}), nil
}

// node reads the host's node, and without it those of which it may be one. Hosts are all of the
// cluster's.
func (c *Client) node(ctx context.Context, w *bare.World, hosts []scale.Host) error {
	name := cmp.Or(c.Node, w.Host.Host.Node, c.Name)
	if err := machines.PlainName(name); err != nil {
		return err
	}
	var own objects.Node
	found, err := c.API.JSON(ctx, http.MethodGet, nodePath+"/"+name, nil, &own)
	if err != nil {
		return err
	}
	if !found {
		if err := c.all(ctx); err != nil {
			return err
		}
	}
	if found {
		w.Node = c.readNode(own)
		if of := owner(w.Node.Name, hosts); of != c.Name {
			w.Taken = of
		}
		return nil
	}
	for _, n := range c.nodes {
		switch of := owner(n.Metadata.Name, hosts); {
		case c.Node == "" && of == c.Name:
			w.Node = c.readNode(n)
		case of == c.Name:
			w.Misnamed = n.Metadata.Name
		case of == "" && !c.control(n):
			w.Unknown = append(w.Unknown, n.Metadata.Name)
		}
	}
	slices.Sort(w.Unknown)
	return nil
}

// owner is the host for which a person has named the node. Without one it is the host with the
// longest name that is the node's, or the node's without a domain; empty for none.
func owner(node string, hosts []scale.Host) (best string) {
	for _, h := range hosts {
		if h.Node == node {
			return h.Name
		}
		if scale.OfHost(node, h.Name) && len(h.Name) > len(best) {
			best = h.Name
		}
	}
	return best
}

// all reads all nodes, unless it has read them a moment ago.
func (c *Client) all(ctx context.Context) error {
	if !c.read.IsZero() && time.Since(c.read) < every {
		return nil
	}
	nodes, err := pages[objects.Node](ctx, c.API, nodePath+"?")
	if err == nil {
		c.nodes, c.read = nodes, time.Now()
	}
	return err
}

// controlLabels mark nodes of the control plane, whichever program has installed it.
var controlLabels = []string{"node-role.kubernetes.io/control-plane",
	"node-role.kubernetes.io/master", "node-role.kubernetes.io/etcd"}

// labels are those that mark nodes of this cluster's control plane.
func (c *Client) labels() []string {
	if c.ControlPlane == "" || slices.Contains(controlLabels, c.ControlPlane) {
		return controlLabels
	}
	return append([]string{c.ControlPlane}, controlLabels...)
}

func (c *Client) control(n objects.Node) bool {
	return slices.ContainsFunc(c.labels(), func(label string) bool {
		return n.Scale(label).Control
	})
}

func (c *Client) readNode(n objects.Node) *bare.Node {
	out := &bare.Node{Node: n.Scale(""), Cordoned: n.Spec.Unschedulable,
		Leaving: n.Metadata.Annotations[bare.Leaves] == c.Name}
	out.Control = c.control(n)
	return out
}

// members reads the control plane.
func (c *Client) members(ctx context.Context, w *bare.World) error {
	for _, label := range c.labels() {
		nodes, err := pages[objects.Node](ctx, c.API,
			nodePath+"?labelSelector="+url.QueryEscape(label)+"&")
		if err != nil {
			return err
		}
		for _, n := range nodes {
			one := n.Scale(label)
			if !slices.ContainsFunc(w.Control, func(o scale.Node) bool {
				return o.Name == one.Name
			}) {
				w.Control = append(w.Control, one)
			}
		}
	}
	return nil
}

// pages reads a list of any length. Path ends where another parameter may follow.
func pages[T any](ctx context.Context, api machines.API, path string) (all []T, err error) {
	const most = "limit=500"
	for next := ""; ; {
		var page list[T]
		if _, err := api.JSON(ctx, http.MethodGet, path+most+next, nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Metadata.Continue == "" {
			return all, nil
		}
		next = "&continue=" + url.QueryEscape(page.Metadata.Continue)
	}
}
