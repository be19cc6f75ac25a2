// Package machines reads the hosts, Machines and MachineSets of OpenShift's API as seen from one
// host, and does the steps by which it comes and goes.
package machines

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// API makes one request to the cluster's API.
type API interface {
	// JSON is as that of package kube.
	JSON(ctx context.Context, method, path string, body, out any) (found bool, err error)
}

// Client reads and changes what the API has of hosts.
type Client struct {
	API API
	// ControlPlane is the label of a control plane node, and Namespace that of our objects.
	ControlPlane, Namespace string

	beat  string    // of the bootstrap machine
	since time.Time // that beat, by the clock of this machine
}

// stale is how long the bootstrap machine's heartbeat stands still until it counts as gone: it was
// removed without an end.
const stale = 2 * time.Minute

// The paths of OpenShift's objects.
const (
	inNamespace = "/namespaces/" + object.MachineNamespace + "/"
	hostsPath   = "/apis/" + object.Metal3 + inNamespace + "baremetalhosts"
	hostPath    = hostsPath + "/"
	machinePath = "/apis/" + object.Machine + inNamespace + "machines"
	setPath     = "/apis/" + object.Machine + inNamespace + "machinesets"
	ironicPath  = "/apis/apps/v1" + inNamespace + "deployments/metal3"
	secretPath  = "/api/v1" + inNamespace + "secrets"
)

// World is what the API has, seen from a host.
func (c *Client) World(ctx context.Context, name string) (w scale.World, err error) {
	if err := plainName(name); err != nil {
		return w, err
	}
	var all list[host]
	_, err = c.API.JSON(ctx, http.MethodGet, hostsPath, nil, &all)
	if err != nil {
		return w, err
	}
	w.Host.Name = name
	for _, h := range all.Items {
		switch is := h.read(); {
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

// plainName is an error for what cannot be a host's name: it becomes a part of a path, and without
// one a request would be about all hosts.
func plainName(name string) error {
	if !names.MatchString(name) || len(name) > 253 {
		return scale.Refusal{Text: fmt.Sprintf("%q is no name of a host", name)}
	}
	return nil
}

var names = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)

// machines reads the MachineSets, and the Machine that the host belongs to: the one that it names,
// or else the one that names it.
func (c *Client) machines(ctx context.Context, w *scale.World) error {
	var all list[machine]
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
			w.Machine = m.read()
		case m.Metadata.Annotations[hostOf] != object.MachineNamespace+"/"+w.Host.Name:
		case w.Machine != nil:
			w.Other = m.Metadata.Name
		default:
			w.Machine = m.read()
		}
	}
	for _, m := range all.Items {
		if !m.Metadata.deletes() && m.Metadata.Annotations[hostOf] == "" {
			w.Idle = append(w.Idle, scale.Idle{Name: m.Metadata.Name, Set: m.set()})
		}
	}
	for _, s := range sets.Items {
		w.Sets = append(w.Sets, s.read(all.Items))
	}
	slices.SortFunc(w.Sets, func(a, b scale.Set) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// Fleet is what the API has of all hosts; the zero value with an error.
func (c *Client) Fleet(ctx context.Context) (scale.Fleet, error) {
	var f scale.Fleet
	var hosts list[host]
	if _, err := c.API.JSON(ctx, http.MethodGet, hostsPath, nil, &hosts); err != nil {
		return scale.Fleet{}, err
	}
	for _, h := range hosts.Items {
		f.Hosts = append(f.Hosts, h.read())
	}
	var ironic struct {
		Status struct {
			ReadyReplicas int `json:"readyReplicas"`
		} `json:"status"`
	}
	if _, err := c.API.JSON(ctx, http.MethodGet, ironicPath, nil, &ironic); err != nil {
		return scale.Fleet{}, err
	}
	f.Ironic = ironic.Status.ReadyReplicas > 0
	var err error
	if f.Bootstrap, err = c.bootstrap(ctx); err != nil {
		return scale.Fleet{}, err
	}
	return f, nil
}

// nodes reads the nodes that count: those of the control plane, and the host's own.
func (c *Client) nodes(ctx context.Context, w *scale.World) error {
	const path = "/api/v1/nodes"
	for _, label := range []string{c.ControlPlane, arbiters} {
		var members list[node]
		all := path + "?labelSelector=" + url.QueryEscape(label)
		if _, err := c.API.JSON(ctx, http.MethodGet, all, nil, &members); err != nil {
			return err
		}
		for _, n := range members.Items {
			w.Nodes = add(w.Nodes, n.read(c.ControlPlane))
		}
	}
	own := w.Host.Name
	if w.Machine != nil && w.Machine.Node != "" {
		own = w.Machine.Node
	}
	var n node
	found, err := c.API.JSON(ctx, http.MethodGet, path+"/"+own, nil, &n)
	if found {
		w.Nodes = add(w.Nodes, n.read(c.ControlPlane))
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
	w.Bootstrap, err = c.bootstrap(ctx)
	return err
}

// bootstrap reports whether the bootstrap machine has published itself, has not left, and beats.
func (c *Client) bootstrap(ctx context.Context) (bool, error) {
	var published struct {
		Data map[string]string `json:"data"`
	}
	path := fmt.Sprintf("/api/v1/namespaces/%s/configmaps/%s", c.Namespace, notice.Bootstrap)
	found, err := c.API.JSON(ctx, http.MethodGet, path, nil, &published)
	if err != nil || !found || notice.BootstrapLeft(published.Data) {
		return false, err
	}
	if beat := published.Data[notice.Beat]; beat != c.beat || c.since.IsZero() {
		c.beat, c.since = beat, time.Now()
	}
	return time.Since(c.since) < stale, nil
}
