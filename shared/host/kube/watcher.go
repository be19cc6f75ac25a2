package kube

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// pace is the least time between the starts of two attempts. It is short and constant because a control plane node that registers just
// after the API came up must be seen before that node has formed a picture of its own.
const pace = time.Second

// Watcher knows the control plane's Nodes. It lists all Nodes once, then follows one watch that it resumes where it ended; only when the
// API has forgotten that place does it list again. No error ever empties what it knows.
type Watcher struct {
	access *Access
	log    *slog.Logger

	client  *http.Client // of the API that version comes from
	version string       // where to resume the watch; empty: list first
	said    string       // the error logged last, empty when all is well

	mu     sync.Mutex
	nodes  map[string]addr.Node
	synced bool
}

// New reads nothing yet; the kubeconfig may appear later.
func New(kubeconfig string, log *slog.Logger) *Watcher {
	return &Watcher{access: NewAccess(kubeconfig), log: log}
}

// Nodes are the control plane's Nodes by name, as the API last said. synced is false until it has said so for the first time.
func (w *Watcher) Nodes() (nodes []addr.Node, synced bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		nodes = append(nodes, w.nodes[name])
	}
	return nodes, w.synced
}

// Run follows the Nodes until ctx ends, and wakes whenever Nodes has a new answer. Its error is ctx's, no other: what goes wrong on the
// way is logged when it changes, and tried again.
func (w *Watcher) Run(ctx context.Context, wake chan<- struct{}) error {
	for {
		next := time.NewTimer(pace)
		if err := w.follow(ctx, wake); err != nil && ctx.Err() == nil && err.Error() != w.said {
			w.said = err.Error()
			w.log.Warn("watch nodes", "error", err)
		}
		select {
		case <-ctx.Done():
			next.Stop()
			return ctx.Err()
		case <-next.C:
		}
	}
}

// well is called when the API has kept its word: an event that could be read, or an end in order. The mere start of an answer is none.
func (w *Watcher) well() {
	if w.said != "" {
		w.said = ""
		w.log.Info("watch nodes again")
	}
}

// reset takes the whole truth: who is not in it is gone.
func (w *Watcher) reset(all []node, wake chan<- struct{}) {
	nodes := map[string]addr.Node{}
	for _, n := range all {
		if n.controlPlane() {
			nodes[n.Metadata.Name] = n.address()
		}
	}
	w.mu.Lock()
	changed := !w.synced || !maps.EqualFunc(w.nodes, nodes, equal)
	w.nodes, w.synced = nodes, true
	w.mu.Unlock()
	if changed {
		w.announce(wake)
	}
}

// update takes one Node as it is now; present is false when it was deleted.
func (w *Watcher) update(n node, present bool, wake chan<- struct{}) {
	name := n.Metadata.Name
	w.mu.Lock()
	before, known := w.nodes[name]
	now, wanted := n.address(), present && n.controlPlane()
	changed := known != wanted || known && !equal(before, now)
	if wanted {
		w.nodes[name] = now
	} else {
		delete(w.nodes, name)
	}
	w.mu.Unlock()
	if changed {
		w.announce(wake)
	}
}

func (w *Watcher) announce(wake chan<- struct{}) {
	nodes, _ := w.Nodes()
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
	}
	w.log.Info("control plane nodes", "names", names)
	select {
	case wake <- struct{}{}:
	default:
	}
}
