package watch

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// fakeAPI is a small stand-in for an API server: it lists Nodes and serves watches of them with
// bookmarks. It counts requests.
type fakeAPI struct {
	host    string
	mu      sync.Mutex
	nodes   map[string]fakeNode
	version int
	oldest  int // watches cannot resume before this version
	past    []fakeEvent
	changed chan struct{} // closed and replaced at each change
	cut     chan struct{} // closed and replaced to end all watches
	lists   int
	watches int
	asked   []string    // resourceVersion of each watch
	listed  []string    // resourceVersion and limit of each list
	tried   []time.Time // when a request was sent, answered or not
	endless atomic.Bool // streams do not end when they should
	down    atomic.Bool // connections are refused
	closes  atomic.Bool // if down: connections are accepted and closed
	refuse  func(w http.ResponseWriter, r *http.Request) bool
}

type fakeNode struct {
	Labels      map[string]string
	Annotations map[string]string
	Addresses   [][2]string // type, address
}

type fakeEvent struct {
	version int
	text    string
}

func newFakeAPI() *fakeAPI {
	return &fakeAPI{host: "https://api-int.example.com:6443", nodes: map[string]fakeNode{}, version: 100, changed: make(chan struct{}), cut: make(chan struct{})}
}

var master = map[string]string{"node-role.kubernetes.io/master": "", "node-role.kubernetes.io/control-plane": ""}

// at makes a control plane node with one address.
func at(address string) fakeNode {
	return fakeNode{Labels: master, Addresses: [][2]string{{"InternalIP", address}, {"Hostname", "host"}}}
}

func (n fakeNode) object(name string, version int) string {
	addresses := []map[string]string{}
	for _, a := range n.Addresses {
		addresses = append(addresses, map[string]string{"type": a[0], "address": a[1]})
	}
	text, _ := json.Marshal(map[string]any{
		"kind": "Node", "apiVersion": "v1",
		"metadata": map[string]any{"name": name, "resourceVersion": strconv.Itoa(version), "labels": n.Labels, "annotations": n.Annotations, "managedFields": []any{}},
		"status":   map[string]any{"addresses": addresses, "images": []any{map[string]any{"names": []string{"x"}, "sizeBytes": 1}}},
	})
	return string(text)
}

func (f *fakeAPI) set(name string, n fakeNode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := "ADDED"
	if _, known := f.nodes[name]; known {
		kind = "MODIFIED"
	}
	f.nodes[name] = n
	f.version++
	f.event(kind, n.object(name, f.version))
}

func (f *fakeAPI) remove(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	f.event("DELETED", f.nodes[name].object(name, f.version))
	delete(f.nodes, name)
}

// bookmark moves the version on as other objects change.
func (f *fakeAPI) bookmark(version int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version = version
	f.event("BOOKMARK", fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"%d"}}`, version))
}

func (f *fakeAPI) event(kind, object string) {
	f.send(fmt.Sprintf(`{"type":%q,"object":%s}`, kind, object))
}

func (f *fakeAPI) send(text string) {
	f.past = append(f.past, fakeEvent{f.version, text + "\n"})
	close(f.changed)
	f.changed = make(chan struct{})
}

// forget drops the past events, as compaction does.
func (f *fakeAPI) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	f.past, f.oldest = nil, f.version
}

// endWatches closes all streams in order.
func (f *fakeAPI) endWatches() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.cut)
	f.cut = make(chan struct{})
}

// answer makes the API answer every request so until the next call; nil ends that.
func (f *fakeAPI) answer(refuse func(w http.ResponseWriter, r *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = refuse
}

func (f *fakeAPI) counts() (lists, watches int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lists, f.watches
}

// trials are the times of all requests, answered or not.
func (f *fakeAPI) trials() []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.tried)
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	watch := r.URL.Query().Get("watch") == "true"
	f.mu.Lock()
	if watch {
		f.watches++
		f.asked = append(f.asked, r.URL.Query().Get("resourceVersion"))
	} else {
		f.lists++
		f.listed = append(f.listed, r.URL.Query().Get("resourceVersion")+"/"+r.URL.Query().Get("limit"))
	}
	refuse := f.refuse
	f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case refuse != nil && refuse(w, r):
	case r.URL.Path != "/api/v1/nodes":
		http.NotFound(w, r)
	case watch:
		f.serveWatch(w, r)
	default:
		f.serveList(w)
	}
}

func (f *fakeAPI) serveList(w http.ResponseWriter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	items := []json.RawMessage{}
	for name, n := range f.nodes {
		items = append(items, json.RawMessage(n.object(name, f.version)))
	}
	json.NewEncoder(w).Encode(map[string]any{"kind": "NodeList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": strconv.Itoa(f.version)}, "items": items})
}

func (f *fakeAPI) serveWatch(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	length, lengthErr := strconv.Atoi(r.URL.Query().Get("timeoutSeconds"))
	if err != nil || lengthErr != nil || r.URL.Query().Get("allowWatchBookmarks") != "true" {
		http.Error(w, "this fake serves watches with a version, bookmarks and an end only", http.StatusTeapot)
		return
	}
	f.mu.Lock()
	forgotten, cut := from < f.oldest, f.cut
	f.mu.Unlock()
	if forgotten {
		io.WriteString(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old resource version","reason":"Expired","code":410}}`+"\n")
		return
	}
	var over <-chan time.Time
	if !f.endless.Load() {
		over = time.After(time.Duration(length) * time.Second)
	}
	w.WriteHeader(http.StatusOK)
	for {
		f.mu.Lock()
		changed := f.changed
		for _, e := range f.past {
			if e.version > from {
				io.WriteString(w, e.text)
				from = e.version
			}
		}
		f.mu.Unlock()
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-cut:
			return
		case <-over:
			return
		case <-r.Context().Done():
			return
		}
	}
}
