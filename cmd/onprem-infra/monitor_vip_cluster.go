//go:build remote

package main

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/candidates"
	"github.com/onprem-infra/onprem-infra/cluster/vip/bootpeer"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/publish"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// nodeCluster is the API's last answers to this node. Its methods but follow and self are for one
// goroutine.
type nodeCluster struct {
	plan       plan.Plan
	ranked     bool // nodes have ranks, or are about to
	api        *kube.API
	log        *slog.Logger
	believe    notice.Cluster
	nodes      *kube.Watcher
	candidates *kube.Object // nil where every node may hold the ingress VIP
	bootstrap  *kube.Object // nil on workers
	ranks      *publish.Annotation
	intents    *publish.Annotation
	gone       *publish.Annotation // that the bootstrap machine is gone

	list   *candidates.Reader
	logged map[string]string // what is invalid, by subject
}

func (c *nodeCluster) Nodes() ([]member.Node, bool) {
	all, known := c.nodes.Known()
	nodes := make([]member.Node, len(all))
	for i, n := range all {
		nodes[i] = member.Node{
			Candidate: n.Candidate, ControlPlane: n.ControlPlane, NoVIP: n.Arbiter || n.Remote,
			Intent: notice.ReadIntent(n.Way), State: n.State, Kubelet: n.Kubelet,
		}
		if c.ranked {
			nodes[i].Rank, nodes[i].Created, nodes[i].Down = n.Rank, n.Created, down(n)
		}
	}
	return nodes, known
}

// down is since when a Node's kubelet has not been ready; zero if it is, or if that is not known.
func down(n kube.Node) time.Time {
	if n.Ready {
		return time.Time{}
	}
	return n.Since
}

// Candidates are those of the list on a control plane node's own Node. If there is none, as before the
// first of them is upgraded, they are those of the former release's object.
func (c *nodeCluster) Candidates() ([]notice.Candidate, bool) {
	if c.candidates == nil {
		return nil, false
	}
	nodes, _ := c.nodes.Known()
	known, last := c.nodes.LastReceived()
	if !known {
		return c.list.Known()
	}
	texts := map[string]string{}
	for _, n := range nodes {
		if n.List != "" {
			texts[n.Name] = n.List
		}
	}
	err := c.list.Take(texts, formerList(c.candidates), last)
	c.complain("ingress candidates", err)
	return c.list.Known()
}

// Bootstrap is what the bootstrap machine has published. One that has left says so by a list of
// nobody, or a control plane node says so for it, which counts once it is known that the machine
// itself says nothing else; what cannot be believed counts as not known.
func (c *nodeCluster) Bootstrap() (bootpeer.Published, bool) {
	if c.bootstrap == nil {
		return bootpeer.Published{}, false
	}
	nodes, _ := c.nodes.Known()
	left := bootpeer.Published{Left: slices.ContainsFunc(nodes, func(n kube.Node) bool { return n.Gone })}
	data, exists, known := c.bootstrap.Data()
	if !known || !exists || len(data) == 0 {
		return left, known
	}
	if notice.BootstrapLeft(data) {
		return bootpeer.Published{Left: true}, true
	}
	addresses, beat, err := notice.ReadBootstrap(data, c.believe)
	c.complain("the bootstrap machine's address", err)
	if err != nil {
		return left, left.Left
	}
	return bootpeer.Published{Addresses: addresses, Beat: strconv.FormatUint(beat, 10)}, true
}

// complain logs once for each subject what is invalid.
func (c *nodeCluster) complain(what string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != c.logged[what] && text != "" {
		c.log.Warn("read "+what, "error", text)
	}
	c.logged[what] = text
}

// Self is the Node that this node's credentials name. Credentials that cannot be read yet name none.
func (c *nodeCluster) Self() string {
	name, _ := c.api.NodeName()
	return name
}

// self waits for the name of this machine's Node: the one that its credentials name, or else the
// control plane node that has an address of this machine.
func (c *nodeCluster) self(ctx context.Context) (string, error) {
	for {
		if name := c.Self(); name != "" {
			return name, nil
		}
		links, err := link.Snapshot()
		if err != nil {
			return "", err
		}
		known, _ := c.Nodes()
		if name := member.Self(member.ControlPlane(known), links, c.believe.VIPs); name != "" {
			return name, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// ClaimRank claims the last rank that it was asked for. The zero value withdraws a claim that is not
// written yet: the node has a rank, and a late write would take it away.
func (c *nodeCluster) ClaimRank(claim member.Claim) {
	if claim == (member.Claim{}) {
		c.ranks.Withdraw()
		return
	}
	c.ranks.Write(claim.Node, notice.EncodeRank(claim.Rank))
}

// ReportBootstrapGone writes on this node's own Node that the bootstrap machine is gone.
func (c *nodeCluster) ReportBootstrapGone(node string) { c.gone.Write(node, notice.Gone) }

// Announce writes this node's intent on its own Node.
func (c *nodeCluster) Announce(node string, intent notice.Intent) {
	c.intents.Write(node, notice.EncodeIntent(intent))
}
