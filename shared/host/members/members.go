// Package members answers from the Nodes that it watches which hosts the cluster has, for the rooms
// that decide about a node's VIPs.
package members

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/candidates"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/bootpeer"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/publish"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/way"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// Cluster is the API's last answers to this node. Its methods but Self and Watches are for one
// goroutine.
type Cluster struct {
	API       *kube.API
	NodeWatch *kube.Watcher
	List      *kube.Object // of the former release; nil where every node may hold the ingress VIP
	Published *kube.Object // by the bootstrap machine; nil on workers
	Annotations

	follows bool                         // this node's own Node beside NodeWatch, in own
	own     atomic.Pointer[kube.Watcher] // this node's own Node, once its name is known

	plan   plan.Plan
	ranked bool // nodes have ranks, or are about to
	log    *slog.Logger
	accept notice.Cluster
	list   *candidates.Reader
	logged map[string]string // what is invalid, by subject
}

// Annotations are those of this node's own Node that it writes.
type Annotations struct {
	Ranks   *publish.Annotation
	Intents *publish.Annotation
	Gone    *publish.Annotation // that the bootstrap machine is gone
	Keys    *publish.Annotation // for reports of clients
}

// New prepares the watches of the API. While a migration is pending they are what either plan
// needs, and every Node, as all nodes must agree to it.
func New(p plan.Plan, r role.Role, api *kube.API, log *slog.Logger) *Cluster {
	now, migrates := p, p.Former != nil
	if migrates {
		now = *p.Former
	}
	annotation := func(key, what string) *publish.Annotation {
		return publish.NewAnnotation(key, what, api.Annotate, log)
	}
	c := &Cluster{
		API: api,
		Annotations: Annotations{
			Ranks:   annotation(notice.Rank, "claim a rank"),
			Intents: annotation(notice.Way, "announce how this node uses VRRP"),
			Gone:    annotation(notice.BootstrapGone, "report that the bootstrap machine is gone"),
			Keys:    annotation(notice.ClientsKey, "publish the key for reports of clients"),
		},
		plan: p, log: log, logged: map[string]string{}, accept: candidates.Cluster(p),
		list: candidates.NewReader(candidates.Cluster(p)),
	}
	c.ranked = len(p.VRRP.ControlPlane.Ranks)+len(now.VRRP.ControlPlane.Ranks) > 0
	// A node that has changed goes on to announce how it uses VRRP as long as its file says what
	// the cluster migrates from.
	c.NodeWatch = api.ControlPlane(p.ControlPlaneLabel)
	c.follows = p.BGP != nil || p.MigrateFrom != (way.Way{})
	if r == role.Master || vip.WatchesAll(p) || migrates {
		c.NodeWatch, c.follows = api.AllNodes(p.ControlPlaneLabel), false
	}
	if !vip.WatchesAll(p) || !vip.WatchesAll(now) {
		c.List = api.Object(p.Namespace, notice.Candidates)
	}
	if r == role.Master {
		c.Published = api.Object(p.Namespace, notice.Bootstrap)
	}
	return c
}

// Nodes are the nodes that the API has sent; false until it has sent a list.
func (c *Cluster) Nodes() ([]member.Node, bool) {
	all, known := c.NodeWatch.Known()
	if own := c.own.Load(); own != nil {
		one, _ := own.Known()
		all = append(all, one...)
	}
	nodes := make([]member.Node, len(all))
	for i, n := range all {
		nodes[i] = member.Node{
			Candidate: n.Candidate, ControlPlane: n.ControlPlane, NoVIP: n.Arbiter || n.Remote,
			Rack: n.Rack, Apart: n.Apart,
			Intent: notice.ReadIntent(n.Way), State: n.State, Kubelet: n.Kubelet,
			ClientsKey: n.ClientsKey,
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

// Candidates are those of the list on a control plane node's own Node. If there is none, as before
// the first of them is upgraded, they are those of the former release's object.
func (c *Cluster) Candidates() ([]notice.Candidate, bool) {
	if c.List == nil {
		return nil, false
	}
	nodes, _ := c.NodeWatch.Known()
	known, last := c.NodeWatch.LastReceived()
	if !known {
		return c.list.Known()
	}
	texts := map[string]string{}
	for _, n := range nodes {
		if n.List != "" {
			texts[n.Name] = n.List
		}
	}
	c.complain("ingress candidates", c.list.Take(texts, formerList(c.List), last))
	return c.list.Known()
}

// Bootstrap is what the bootstrap machine has published: an empty list if it has left. A control
// plane node's report that it has left counts once it is known that the machine itself publishes
// no addresses. Invalid data counts as not known, unless there is such a report.
func (c *Cluster) Bootstrap() (bootpeer.Published, bool) {
	if c.Published == nil {
		return bootpeer.Published{}, false
	}
	nodes, _ := c.NodeWatch.Known()
	left := bootpeer.Published{Left: slices.ContainsFunc(nodes,
		func(n kube.Node) bool { return n.Gone })}
	data, exists, known := c.Published.Data()
	if !known || !exists || len(data) == 0 {
		return left, known
	}
	if notice.BootstrapLeft(data) {
		return bootpeer.Published{Left: true}, true
	}
	addresses, beat, err := notice.ReadBootstrap(data, c.accept)
	c.complain("the bootstrap machine's address", err)
	if err != nil {
		return left, left.Left
	}
	return bootpeer.Published{Addresses: addresses, Beat: strconv.FormatUint(beat, 10)}, true
}

// complain logs once for each subject what is invalid.
func (c *Cluster) complain(what string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != c.logged[what] && text != "" {
		c.log.Warn("read "+what, "error", text)
	}
	c.logged[what] = text
}

// Self is the Node that this node's credentials name. Credentials that cannot be read yet name
// none.
func (c *Cluster) Self() string {
	name, _ := c.API.NodeName()
	return name
}

// Name is that of this machine's Node: the one that its credentials name, or else the control plane
// node that has an address of this machine; empty while neither is known.
func (c *Cluster) Name(links addr.Snapshot) string {
	if name := c.Self(); name != "" {
		return name
	}
	known, _ := c.Nodes()
	return member.Self(member.ControlPlane(known), links, c.accept.VIPs)
}

// self waits for the name of this machine's Node.
func (c *Cluster) self(ctx context.Context) (string, error) {
	for {
		links, err := link.Snapshot()
		if err != nil {
			return "", err
		}
		if name := c.Name(links); name != "" {
			return name, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// ClaimRank claims the last rank that it was asked for. The zero value withdraws a claim that is
// not written yet: the node has a rank, and a late write would take it away.
func (c *Cluster) ClaimRank(claim member.Claim) {
	if claim == (member.Claim{}) {
		c.Ranks.Withdraw()
		return
	}
	c.Ranks.Write(claim.Node, notice.EncodeRank(claim.Rank))
}

// ReportBootstrapGone writes on this node's own Node that the bootstrap machine is gone.
func (c *Cluster) ReportBootstrapGone(node string) { c.Gone.Write(node, notice.Gone) }

// Announce writes this node's intent on its own Node.
func (c *Cluster) Announce(node string, intent notice.Intent) {
	c.Intents.Write(node, notice.EncodeIntent(intent))
}

// CreateEvent reports a change as an Event of a Node.
func (c *Cluster) CreateEvent(ctx context.Context, node string, e publish.Event) error {
	return c.API.CreateNodeEvent(ctx, node, kube.Event{Reason: e.Reason, Message: e.Message,
		Warning: e.Warning, At: e.At})
}
