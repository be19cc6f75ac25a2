package kube

import (
	"log/slog"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/watch"
)

// Watcher knows Nodes. No error ever empties what it knows.
type Watcher struct{ *watch.Cache[Node] }

// NewBootstrapWatcher watches the control plane's Nodes by either of the labels that mark one, for
// the bootstrap machine, which serves clusters of any age. No selector can match either of two
// labels, so the API sends all Nodes and the others are dropped here. An invalid kubeconfig is not
// logged: the probes of the API log it. Others are as those of OrAt; nil for none.
func NewBootstrapWatcher(
	path string, log *slog.Logger, others func() []netip.AddrPort,
) *Watcher {
	return bootstrapNodes(path, log, others, isControlPlane)
}

// NewInstalledWatcher is NewBootstrapWatcher with the Nodes of arbiters, for the program that
// installs both.
func NewInstalledWatcher(
	path string, log *slog.Logger, others func() []netip.AddrPort,
) *Watcher {
	return bootstrapNodes(path, log, others,
		func(n Node) bool { return n.ControlPlane || n.Arbiter })
}

func bootstrapNodes(
	path string, log *slog.Logger, others func() []netip.AddrPort, wanted func(Node) bool,
) *Watcher {
	api := newAPI(path, slog.New(slog.DiscardHandler), log).OrAt(others)
	return api.nodes("nodes", "", []string{labelControlPlane, labelMaster}, wanted)
}

func isControlPlane(n Node) bool { return n.ControlPlane }

// ControlPlane watches the Nodes that carry a label, whatever its value. The API sends no others.
func (a *API) ControlPlane(label string) *Watcher {
	return a.nodes("control plane nodes", label, []string{label}, isControlPlane)
}

// AllNodes watches every Node; label marks those of the control plane. It is for control plane
// nodes alone: the API sends each change of each Node to each host that watches all.
func (a *API) AllNodes(label string) *Watcher {
	return a.nodes("all nodes", "", []string{label}, func(Node) bool { return true })
}

// OneNode watches the Node of a name; label marks those of the control plane. The API sends no
// other.
func (a *API) OneNode(name, label string) *Watcher {
	return a.watchNodes(watch.Kind{
		Title: "this node", Name: name,
		Fields: fields.OneTermEqualSelector("metadata.name", name).String(),
	}, []string{label}, func(n Node) bool { return n.Name == name })
}

func (a *API) nodes(title, selector string, labels []string, wanted func(Node) bool) *Watcher {
	return a.watchNodes(watch.Kind{Title: title, Labels: selector, Paged: selector == ""}, labels,
		wanted)
}

func (a *API) watchNodes(kind watch.Kind, labels []string, wanted func(Node) bool) *Watcher {
	kind.Group, kind.Resource = corev1.SchemeGroupVersion, "nodes"
	return &Watcher{watch.New(watch.Options[*corev1.Node, Node]{
		API: a.watch, Kind: kind,
		Read: func(n *corev1.Node) (Node, bool) {
			node := readNode(n, labels)
			return node, wanted(node)
		},
		Slim:  slimNode,
		Equal: Node.Equal,
		Describe: func(all map[string]Node) (key, value string) {
			return watch.Names("names", slices.Sorted(maps.Keys(all)))
		},
	})}
}

// Known are the Nodes, sorted by name, as the API last sent them. synced is false until it has sent
// a list.
func (w *Watcher) Known() (nodes []Node, synced bool) {
	all, synced := w.All()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		nodes = append(nodes, all[name])
	}
	return nodes, synced
}

// Nodes are the names and addresses of Known.
func (w *Watcher) Nodes() (nodes []addr.Candidate, synced bool) {
	known, synced := w.Known()
	for _, n := range known {
		nodes = append(nodes, n.Candidate)
	}
	return nodes, synced
}

// Members are those of Nodes that are of the control plane.
func (w *Watcher) Members() (members []addr.Candidate) {
	known, _ := w.Known()
	for _, n := range known {
		if n.ControlPlane {
			members = append(members, n.Candidate)
		}
	}
	return members
}
