package kube

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// pace is the time between two attempts. It is short and constant because a control plane node that registers just after the API came up
// must be seen before that node has formed a picture of its own.
const pace = time.Second

// Watcher knows the control plane's Nodes. It lists all Nodes once, then follows one watch that it resumes where it ended; only when the
// API has forgotten that place, or ends a watch with an error, does it list again. No error ever empties what it knows.
type Watcher struct {
	access *Access
	log    *slog.Logger

	mu     sync.Mutex
	nodes  map[string]addr.Node
	synced bool
	said   string // the error logged last, empty when all is well
}

// New reads nothing yet; the kubeconfig may appear later. What goes wrong with one that is in use, those who probe the API with it say.
func New(kubeconfig string, log *slog.Logger) *Watcher {
	silence()
	return &Watcher{access: &Access{path: kubeconfig, log: slog.New(slog.DiscardHandler)}, log: log}
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
	tell := func(err error) {
		if ctx.Err() == nil {
			w.ill(err)
		}
	}
	told := klog.NewContext(ctx, klog.New(ear{tell}))
	var follow *cache.Reflector
	var followed *http.Client
	for {
		next := time.NewTimer(pace)
		client, config, err := w.access.load()
		if err == nil && client != followed { // what was seen of one API means nothing to another
			var from source
			if from, err = newSource(w.access, client, config); err == nil {
				follow, followed = newReflector(from, store{w, wake}), client
			}
		}
		if err == nil {
			err = follow.ListAndWatchWithContext(told)
		}
		if err != nil {
			tell(err)
		}
		select {
		case <-ctx.Done():
			next.Stop()
			return ctx.Err()
		case <-next.C:
		}
	}
}

func newReflector(from source, to store) *cache.Reflector {
	return cache.NewReflectorWithOptions(from, &corev1.Node{}, to, cache.ReflectorOptions{Name: "nodes", Backoff: &wait.Backoff{Duration: pace}})
}

func (w *Watcher) ill(err error) {
	text := stable(err).Error()
	w.mu.Lock()
	news := text != w.said
	w.said = text
	w.mu.Unlock()
	if news {
		w.log.Warn("watch nodes", "error", text)
	}
}

// well is called when the API has sent an event that could be read. The mere start of an answer is no sign of health.
func (w *Watcher) well() {
	w.mu.Lock()
	news := w.said != ""
	w.said = ""
	w.mu.Unlock()
	if news {
		w.log.Info("watch nodes again")
	}
}
