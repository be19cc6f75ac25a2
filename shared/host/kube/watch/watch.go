// Package watch keeps a copy of Kubernetes objects up to date with few requests, whatever the API
// answers: it lists once, then resumes one watch where it ended.
package watch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/onprem-infra/onprem-infra/shared/host/kube/fault"
)

// API is what all watches of one API share.
type API struct {
	// Load gives the client and configuration of now.
	Load   func() (*http.Client, *rest.Config, error)
	Log    *slog.Logger
	Faults *fault.Log
	Crowd  bool // this host is one of many that watch alike
}

// Kind selects the objects that are watched.
type Kind struct {
	Title          string // in the log
	Group          schema.GroupVersion
	Resource       string
	Namespace      string // empty for all, and for what is in none
	Name           string // empty for all
	Labels, Fields string // selectors; empty for all
	Paged          bool   // there may be thousands
}

// watcher watches one kind of object. It lists once, then follows one watch that it resumes where
// it ended. It lists again only if the API has forgotten that version, or ends a watch with an
// error.
type watcher struct {
	API
	Kind
	fault   *fault.Watch
	example runtime.Object       // of the watched type, may be a nil pointer
	slim    func(runtime.Object) // drops what is not read; nil for nothing

	mu      sync.Mutex
	known   string // as it was logged last
	refused int    // answers in a row
	failed  int    // attempts in a row
}

func newWatcher(api API, kind Kind) *watcher {
	return &watcher{API: api, Kind: kind, fault: api.Faults.Watch(kind.Title, fault.Subject{
		Group: kind.Group.Group, Resource: kind.Resource, Namespace: kind.Namespace,
		Name: kind.Name,
	})}
}

// run watches the objects until ctx ends. Its error is ctx's, no other: other errors are logged
// when they change, and the watch is tried again.
func (w *watcher) run(ctx context.Context, to cache.ReflectorStore) error {
	logged := klog.NewContext(ctx, klog.New(errorLog{func(err error) { w.fails(ctx, err) }}))
	var reflector *cache.Reflector
	for {
		next := time.NewTimer(pace)
		var err error
		if reflector == nil {
			reflector, err = w.newReflector(to)
		}
		if err == nil {
			err = reflector.ListAndWatchWithContext(logged)
		}
		if errors.Is(err, errOtherAPI) { // versions of one API mean nothing to another
			reflector = nil
		}
		if err != nil {
			w.fails(ctx, err)
		}
		if long := w.pause(err); long > pace {
			next.Reset(long)
		}
		select {
		case <-ctx.Done():
			next.Stop()
			return ctx.Err()
		case <-next.C:
		}
	}
}

func (w *watcher) newReflector(to cache.ReflectorStore) (*cache.Reflector, error) {
	from, err := newSource(w)
	if err != nil {
		return nil, err
	}
	options := cache.ReflectorOptions{Name: w.Resource, Backoff: &wait.Backoff{Duration: pace}}
	return cache.NewReflectorWithOptions(from, w.example, to, options), nil
}

// fails reports an error, unless it comes from the end of ctx.
func (w *watcher) fails(ctx context.Context, err error) {
	if ctx.Err() == nil {
		w.fault.Failed(err)
	}
}

// logKnown logs what is known now, if it is not what was logged last.
func (w *watcher) logKnown(key, value string) {
	w.mu.Lock()
	text := key + " " + value
	changed := text != w.known
	w.known = text
	w.mu.Unlock()
	if changed {
		w.Log.Info(w.Title, key, value)
	}
}

// Names is an attribute for the log: names under a key, or their number if they would fill a page.
func Names(key string, names []string) (string, string) {
	const most = 16
	if len(names) > most {
		return "number", strconv.Itoa(len(names))
	}
	return key, cmp.Or(strings.Join(names, ", "), "none")
}
