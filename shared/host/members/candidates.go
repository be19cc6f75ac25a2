package members

import (
	"context"
	"maps"
	"sync"

	"github.com/onprem-infra/onprem-infra/cluster/candidates"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// candidatesHost is the cluster as the writer of the ingress candidates sees it.
type candidatesHost struct {
	api       *kube.API
	namespace string
	self      string // this node's Node
	nodes     *kube.Watcher
	routers   *kube.Endpoints // nil where no router runs as in OpenShift
	former    *kube.Object
}

// newCandidatesHost follows nothing yet. It asks for routers only where OpenShift's run:
// elsewhere nodes have no right to read them, and would retry for ever.
func newCandidatesHost(
	p plan.Plan, self string, api *kube.API, nodes *kube.Watcher,
) candidatesHost {
	h := candidatesHost{api: api, namespace: p.Namespace, self: self, nodes: nodes,
		former: api.Object(p.Namespace, notice.Candidates)}
	if p.Flavour().Routers {
		h.routers = api.Endpoints(health.RouterNamespace, health.RouterService)
	}
	return h
}

func (h candidatesHost) Observe() candidates.Observation {
	nodes, synced := h.nodes.Known()
	seen := candidates.Observation{Known: synced, RoutersKnown: h.routers == nil}
	seen.Former = formerList(h.former)
	_, seen.Last = h.nodes.LastReceived()
	if h.routers != nil {
		seen.Routers, seen.RoutersKnown = h.routers.Ready()
	}
	for _, n := range nodes {
		seen.Nodes = append(seen.Nodes, candidates.Node{
			Candidate: n.Candidate, Ready: n.Ready, ControlPlane: n.ControlPlane,
			NoVIP: n.Arbiter || n.Remote, List: n.List, Created: n.Created, Key: n.ClientsKey,
		})
	}
	return seen
}

func formerList(o *kube.Object) (f candidates.Former) {
	f.Data, f.Exists, f.Known = o.Data()
	return f
}

func (h candidatesHost) Publish(ctx context.Context, list string) error {
	return h.api.Annotate(ctx, h.self, notice.PublishedKey, list)
}

func (h candidatesHost) WriteFormer(ctx context.Context, before, data map[string]string) error {
	return h.api.Put(ctx, h.namespace, notice.Candidates,
		func(now map[string]string) map[string]string {
			if now == nil || !maps.Equal(now, before) {
				return nil // the watch will report what it is now
			}
			return data
		})
}

// KeepCandidates writes the list of ingress candidates whenever this control plane node is the one
// to do it, until ctx ends. NodeWatch must follow all Nodes, and its Run must wake the same
// channel.
func (c *Cluster) KeepCandidates(ctx context.Context, self string, wake chan struct{}) error {
	h := newCandidatesHost(c.plan, self, c.API, c.NodeWatch)
	var followers sync.WaitGroup
	defer followers.Wait()
	if h.routers != nil {
		followers.Go(func() { _ = h.routers.Run(ctx, wake) })
	}
	followers.Go(func() { _ = h.former.Run(ctx, wake) })
	return candidates.Run(ctx, candidates.NewWriter(c.plan, self), h, wake, c.log)
}
