package main

import (
	"context"
	"log/slog"
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
	nodes     *kube.Watcher
	routers   *kube.Endpoints // nil where nobody runs routers as OpenShift does
	object    *kube.Object
}

// newCandidatesHost follows nothing yet. Where there are no routers of OpenShift's, nodes have no right to ask for them, and would ask in vain for
// ever.
func newCandidatesHost(p plan.Plan, api *kube.API, nodes *kube.Watcher) candidatesHost {
	h := candidatesHost{api: api, namespace: p.Namespace, nodes: nodes, object: api.Object(p.Namespace, notice.Candidates)}
	if p.Flavour().Routers {
		h.routers = api.Endpoints(health.RouterNamespace, health.RouterService)
	}
	return h
}

func (h candidatesHost) Seen() candidates.Seen {
	nodes, synced := h.nodes.Known()
	data, exists, heard := h.object.Data()
	seen := candidates.Seen{Heard: synced && heard, RoutersHeard: h.routers == nil}
	if exists {
		seen.Data = data
	}
	if h.routers != nil {
		seen.Routers, seen.RoutersHeard = h.routers.Ready()
	}
	for _, n := range nodes {
		seen.Nodes = append(seen.Nodes, candidates.Node{Node: n.Node, Ready: n.Ready, ControlPlane: n.ControlPlane, Apart: n.Arbiter || n.Remote})
	}
	return seen
}

func (h candidatesHost) Write(ctx context.Context, before, data map[string]string) error {
	return h.api.Put(ctx, h.namespace, notice.Candidates, func(now map[string]string) map[string]string {
		if !maps.Equal(now, before) {
			return nil // the watch will tell what it is now
		}
		return data
	})
}

// keepCandidates writes the list of ingress candidates whenever it is this node's turn, until ctx ends. nodes must follow all Nodes, and its
// Run must wake the channel that is given here too.
func keepCandidates(ctx context.Context, p plan.Plan, self string, api *kube.API, nodes *kube.Watcher, wake chan struct{}, log *slog.Logger) error {
	h := newCandidatesHost(p, api, nodes)
	var followers sync.WaitGroup
	defer followers.Wait()
	if h.routers != nil {
		followers.Go(func() { _ = h.routers.Run(ctx, wake) })
	}
	followers.Go(func() { _ = h.object.Run(ctx, wake) })
	return candidates.Run(ctx, candidates.NewWriter(p, self), h, wake, log)
}
