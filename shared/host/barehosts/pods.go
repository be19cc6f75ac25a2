package barehosts

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale/bare"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers/objects"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// mirror is on a pod that kubelet has from a file: no request to the API ends it.
const mirror = "kubernetes.io/config.mirror"

// overdue is how long after its grace period a pod may still exist if its kubelet lives. The
// clocks of the API and of this machine may differ by as much.
const overdue = time.Minute

// rest is the time between two requests for one eviction that the API has refused.
const rest = 5 * time.Second

// refusal is an eviction that the API has refused.
type refusal struct {
	why string
	at  time.Time
}

type pod struct {
	Metadata struct {
		objects.Meta
		UID string `json:"uid"`
		// OwnerReferences has one controller at most.
		OwnerReferences []struct {
			Kind       string
			Controller bool
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		NodeName   string `json:"nodeName"`
		Containers []struct {
			Ports []struct {
				HostPort uint16 `json:"hostPort"`
			} `json:"ports"`
		} `json:"containers"`
	} `json:"spec"`
	Status struct {
		Phase      string `json:"phase"`
		Conditions []struct{ Type, Status string }
	} `json:"status"`
}

// controller is the kind of what the pod belongs to; empty for none.
func (p pod) controller() string {
	for _, o := range p.Metadata.OwnerReferences {
		if o.Controller {
			return o.Kind
		}
	}
	return ""
}

// static reports whether kubelet has the pod from a file.
func (p pod) static() bool {
	_, is := p.Metadata.Annotations[mirror]
	return is
}

// member reports whether the pod is one of a control plane, as kubeadm and others label them.
func (p pod) member() bool {
	return p.static() && slices.Contains([]string{"etcd", "kube-apiserver"},
		p.Metadata.Labels["component"])
}

// stays reports whether the pod is not evicted from a node that is drained.
func (p pod) stays() bool {
	return p.static() || p.controller() == "DaemonSet" || p.Status.Phase == "Succeeded" ||
		p.Status.Phase == "Failed"
}

// ingress reports whether the pod serves ingress at its node.
func (p pod) ingress() bool {
	number := port.Numbers(nil)[port.IngressHTTP]
	serves := false
	for _, c := range p.Spec.Containers {
		for _, at := range c.Ports {
			serves = serves || at.HostPort == number
		}
	}
	for _, is := range p.Status.Conditions {
		if is.Type == "Ready" && is.Status == "True" {
			return serves && !p.Metadata.Deletes()
		}
	}
	return false
}

// stays reads what may keep the host from leaving: its pods, and the control plane if its node is
// part of it; else, if its node serves ingress, another node that does.
func (c *Client) stays(ctx context.Context, w *bare.World) error {
	pods, err := pages[pod](ctx, c.API, "/api/v1/pods?fieldSelector=spec.nodeName%3D"+
		w.Node.Name+"&")
	if err != nil {
		return err
	}
	var serves []string
	for _, p := range pods {
		w.Node.Control = w.Node.Control || p.member()
		if p.ingress() {
			serves = append(serves, p.Metadata.Namespace)
		}
		if !p.stays() {
			w.Pods = append(w.Pods, c.pod(p, w.Node.Ready))
		}
	}
	slices.SortFunc(w.Pods, func(a, b bare.Pod) int {
		return slices.Compare([]string{a.Namespace, a.Name}, []string{b.Namespace, b.Name})
	})
	if w.Node.Control {
		return c.members(ctx, w)
	}
	if len(serves) > 0 {
		return c.others(ctx, w, serves)
	}
	return nil
}

// pod is one that has to leave. If its node is not Ready, no kubelet ends it: it may be Lost.
func (c *Client) pod(p pod, ready bool) bare.Pod {
	out := bare.Pod{Namespace: p.Metadata.Namespace, Name: p.Metadata.Name, UID: p.Metadata.UID,
		Alone: p.controller() == "", Leaving: p.Metadata.Deletes()}
	at, err := time.Parse(time.RFC3339, p.Metadata.DeletionTimestamp)
	out.Lost = out.Leaving && !ready && err == nil && time.Since(at) > overdue
	if no, is := c.refused[out.String()]; is {
		out.Blocked, out.Rests = no.why, time.Since(no.at) < rest
	}
	return out
}

// others finds one node beside the host's that serves ingress and may hold its VIP. It reads the
// namespaces of the pods that serve ingress on the host's node first, and then all.
func (c *Client) others(ctx context.Context, w *bare.World, namespaces []string) error {
	w.Ingress = []string{w.Node.Name}
	slices.Sort(namespaces)
	paths := []string{}
	for _, n := range slices.Compact(namespaces) {
		paths = append(paths, "/api/v1/namespaces/"+n+"/pods?")
	}
	tried := map[string]bool{w.Node.Name: true}
	for _, path := range append(paths, "/api/v1/pods?") {
		pods, err := pages[pod](ctx, c.API, path)
		if err != nil {
			return err
		}
		for _, p := range pods {
			node := p.Spec.NodeName
			if !p.ingress() || tried[node] {
				continue
			}
			tried[node] = true
			var n objects.Node
			found, err := c.API.JSON(ctx, http.MethodGet, nodePath+"/"+node, nil, &n)
			if err != nil {
				return fmt.Errorf("read whether node %s may hold the ingress VIP: %w", node, err)
			}
			if found && !c.apart(n) && n.Scale("").Ready &&
				n.Metadata.Annotations[bare.Leaves] == "" {
				w.Ingress = append(w.Ingress, node)
				return nil
			}
		}
	}
	return nil
}

// apart reports whether a node is to hold no ingress VIP, with all timings but compat.
func (c *Client) apart(n objects.Node) bool {
	for _, label := range []string{c.Remote, notice.ApartLabel, objects.Arbiters} {
		if _, is := n.Metadata.Labels[label]; is {
			return true
		}
	}
	return false
}
