// Package machines reads the hosts, Machines and MachineSets of OpenShift's API as seen from one
// host, and does the steps by which it comes and goes.
package machines

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
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
	inNamespace = "/namespaces/" + scale.Namespace + "/"
	hostPath    = "/apis/metal3.io/v1alpha1" + inNamespace + "baremetalhosts/"
	machinePath = "/apis/machine.openshift.io/v1beta1" + inNamespace + "machines"
	ironicPath  = "/apis/apps/v1" + inNamespace + "deployments/metal3"
	setPath     = "/apis/machine.openshift.io/v1beta1" + inNamespace + "machinesets"
	secretPath  = "/api/v1" + inNamespace + "secrets"
)

// What other programs write.
const (
	hostOf     = "metal3.io/BareMetalHost"      // on a Machine, the host that it has
	follows    = "metal3.io/autoscale-to-hosts" // on a MachineSet
	roleOf     = "machine.openshift.io/cluster-api-machine-role"
	machineSet = "MachineSet"
)

type meta struct {
	Name              string            `json:"name"`
	Annotations       map[string]string `json:"annotations"`
	Labels            map[string]string `json:"labels"`
	DeletionTimestamp string            `json:"deletionTimestamp"`
	ResourceVersion   string            `json:"resourceVersion"`
	OwnerReferences   []struct{ Kind, Name string }
}

type host struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		Online                bool `json:"online"`
		ExternallyProvisioned bool `json:"externallyProvisioned"`
		ConsumerRef           *struct{ Kind, Name string }
	} `json:"spec"`
	Status struct {
		ErrorMessage string `json:"errorMessage"`
		PoweredOn    bool   `json:"poweredOn"`
		Provisioning struct {
			State string `json:"state"`
		} `json:"provisioning"`
	} `json:"status"`
}

type machine struct {
	Metadata meta `json:"metadata"`
	Status   struct {
		NodeRef struct {
			Name string `json:"name"`
		} `json:"nodeRef"`
	} `json:"status"`
}

// set is the MachineSet that a Machine belongs to.
func (m machine) set() string {
	for _, o := range m.Metadata.OwnerReferences {
		if o.Kind == machineSet {
			return o.Name
		}
	}
	return ""
}

type set struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		Replicas *int `json:"replicas"`
	} `json:"spec"`
}

type node struct {
	Metadata meta `json:"metadata"`
	Status   struct {
		Conditions []struct{ Type, Status string } `json:"conditions"`
	} `json:"status"`
}

func (n node) read(control string) scale.Node {
	_, is := n.Metadata.Labels[control]
	out := scale.Node{Name: n.Metadata.Name, Control: is}
	for _, c := range n.Status.Conditions {
		out.Ready = out.Ready || c.Type == "Ready" && c.Status == "True"
	}
	return out
}

type list[T any] struct {
	Items []T `json:"items"`
}

// World is what the API has, seen from a host.
func (c *Client) World(ctx context.Context, name string) (w scale.World, err error) {
	w.Host.Name = name
	var consumer string
	if w.Host, consumer, err = c.host(ctx, name); err != nil {
		return w, err
	}
	var all list[machine]
	var sets list[set]
	for path, out := range map[string]any{machinePath: &all, setPath: &sets} {
		if _, err := c.API.JSON(ctx, http.MethodGet, path, nil, out); err != nil {
			return w, err
		}
	}
	for _, m := range all.Items {
		has := m.Metadata.Annotations[hostOf] == scale.Namespace+"/"+name
		if has || m.Metadata.Name == consumer {
			_, marked := m.Metadata.Annotations[scale.DeleteFirst]
			w.Machine = &scale.Machine{Name: m.Metadata.Name, Set: m.set(),
				Node: m.Status.NodeRef.Name, Control: m.Metadata.Labels[roleOf] == "master",
				Marked: marked, Deleting: m.Metadata.DeletionTimestamp != ""}
		}
	}
	for _, s := range sets.Items {
		w.Sets = append(w.Sets, s.read(all.Items))
	}
	slices.SortFunc(w.Sets, func(a, b scale.Set) int { return cmp.Compare(a.Name, b.Name) })
	if err := c.nodes(ctx, &w); err != nil {
		return w, err
	}
	return w, c.rest(ctx, &w)
}

// host is a host, and the Machine that it names.
func (c *Client) host(ctx context.Context, name string) (
	out scale.Host, consumer string, err error) {
	var h host
	out.Exists, err = c.API.JSON(ctx, http.MethodGet, hostPath+name, nil, &h)
	if err != nil || !out.Exists {
		out.Name = name
		return out, "", err
	}
	if out = h.read(); out.Name == "" {
		out.Name = name
	}
	if of := h.Spec.ConsumerRef; of != nil && of.Kind == "Machine" {
		consumer = of.Name
	}
	return out, consumer, nil
}

func (h host) read() scale.Host {
	why, is := h.Metadata.Annotations[object.Paused]
	return scale.Host{Name: h.Metadata.Name, Exists: true, State: h.Status.Provisioning.State,
		Problem: h.Status.ErrorMessage, On: h.Status.PoweredOn, Online: h.Spec.Online, Paused: is,
		Handover: is && why == object.UntilHandover, External: h.Spec.ExternallyProvisioned}
}

// Fleet is what the API has of all hosts.
func (c *Client) Fleet(ctx context.Context) (f scale.Fleet, err error) {
	var hosts list[host]
	_, err = c.API.JSON(ctx, http.MethodGet, hostPath[:len(hostPath)-1], nil, &hosts)
	if err != nil {
		return f, err
	}
	for _, h := range hosts.Items {
		f.Hosts = append(f.Hosts, h.read())
	}
	var ironic struct {
		Status struct {
			ReadyReplicas int `json:"readyReplicas"`
		} `json:"status"`
	}
	if _, err = c.API.JSON(ctx, http.MethodGet, ironicPath, nil, &ironic); err != nil {
		return f, err
	}
	f.Ironic = ironic.Status.ReadyReplicas > 0
	f.Bootstrap, err = c.bootstrap(ctx)
	return f, err
}

func (s set) read(all []machine) scale.Set {
	// The API's default is one replica.
	out := scale.Set{Name: s.Metadata.Name, Version: s.Metadata.ResourceVersion, Replicas: 1}
	if s.Spec.Replicas != nil {
		out.Replicas = *s.Spec.Replicas
	}
	_, out.Follows = s.Metadata.Annotations[follows]
	for _, m := range all {
		if m.set() != out.Name || m.Metadata.DeletionTimestamp != "" {
			continue
		}
		if out.Live++; m.Metadata.Annotations[hostOf] == "" {
			out.Free++
		}
	}
	return out
}

// nodes reads the nodes that count: those of the control plane, and the host's own.
func (c *Client) nodes(ctx context.Context, w *scale.World) error {
	const path = "/api/v1/nodes"
	var control list[node]
	all := path + "?labelSelector=" + c.ControlPlane
	if _, err := c.API.JSON(ctx, http.MethodGet, all, nil, &control); err != nil {
		return err
	}
	for _, n := range control.Items {
		w.Nodes = append(w.Nodes, n.read(c.ControlPlane))
	}
	own := w.Host.Name
	if w.Machine != nil && w.Machine.Node != "" {
		own = w.Machine.Node
	}
	var n node
	found, err := c.API.JSON(ctx, http.MethodGet, path+"/"+own, nil, &n)
	known := slices.ContainsFunc(w.Nodes, func(n scale.Node) bool { return n.Name == own })
	if found && !known {
		w.Nodes = append(w.Nodes, n.read(c.ControlPlane))
	}
	return err
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
	found, err := c.API.JSON(ctx, http.MethodGet, path, nil, &slicesOf)
	if err != nil {
		return err
	}
	if found {
		w.Ingress = []string{}
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
