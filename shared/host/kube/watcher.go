package kube

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// Watcher knows Nodes. No error ever empties what it knows.
type Watcher struct {
	follower *follower
	table    *table[Node]
}

// New follows the control plane's Nodes by either of the labels that mark one, for the bootstrap
// machine, which serves clusters of any age. No selector can say "either", so the API sends all
// Nodes and the others are dropped here. It reads nothing yet; the kubeconfig may appear later.
// What goes wrong with one that is in use, those who probe the API with it say.
func New(kubeconfig string, log *slog.Logger) *Watcher {
	silence()
	a := &API{access: &Access{path: kubeconfig, log: slog.New(slog.DiscardHandler)}, log: log, troubles: newTroubles(log)}
	either := []string{labelControlPlane, labelMaster}
	return a.nodes("nodes", "", either, func(n Node) bool { return n.ControlPlane })
}

// ControlPlane follows the Nodes that carry a label, whatever its value. The API sends no others.
func (a *API) ControlPlane(label string) *Watcher {
	return a.nodes("control plane nodes", label, []string{label}, func(n Node) bool { return n.ControlPlane })
}

// AllNodes follows every Node; label marks those of the control plane. It is for control plane
// nodes alone: each change of each Node is sent to each that follows all.
func (a *API) AllNodes(label string) *Watcher {
	return a.nodes("all nodes", "", []string{label}, func(Node) bool { return true })
}

func (a *API) nodes(what, selector string, labels []string, wanted func(Node) bool) *Watcher {
	w := &Watcher{follower: &follower{access: a.access, log: a.log, troubles: a.troubles, crowd: a.crowd, kind: kind{
		what: what, group: corev1.SchemeGroupVersion, resource: "nodes", labels: selector, object: &corev1.Node{}, slim: slimNode, paged: selector == "",
	}}}
	w.table = &table[Node]{
		all: map[string]Node{}, equal: Node.Equal, well: w.follower.well, changed: w.tell,
		read: func(object runtime.Object) (string, Node, bool, error) {
			n, ok := object.(*corev1.Node)
			if !ok {
				return "", Node{}, false, fmt.Errorf("read a node: it is a %T", object)
			}
			node := readNode(n, labels)
			return n.Name, node, wanted(node), nil
		},
	}
	return w
}

// Known are the Nodes by name, as the API last said. synced is false until it has said so for the
// first time.
func (w *Watcher) Known() (nodes []Node, synced bool) {
	all, synced := w.table.now()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		nodes = append(nodes, all[name])
	}
	return nodes, synced
}

// Nodes are Known as far as peers are chosen from them: names and addresses.
func (w *Watcher) Nodes() (nodes []addr.Node, synced bool) {
	known, synced := w.Known()
	for _, n := range known {
		nodes = append(nodes, n.Node)
	}
	return nodes, synced
}

// Heard says whether the API has said what Nodes there are, and when it last said anything of them,
// if only that nothing has happened.
func (w *Watcher) Heard() (synced bool, last time.Time) {
	_, synced = w.table.now()
	return synced, w.table.last()
}

// Run follows the Nodes until ctx ends, and wakes whenever Known has a new answer. Its error is
// ctx's, no other: what goes wrong on the way is logged when it changes, and tried again.
func (w *Watcher) Run(ctx context.Context, wakes ...chan<- struct{}) error {
	return w.table.follow(ctx, w.follower, wakes)
}

func (w *Watcher) tell() {
	nodes, _ := w.Nodes()
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
	}
	w.follower.lists("names", names)
}
