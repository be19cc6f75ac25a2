package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// TestResumes cuts every watch, kills the server that served them and replaces the credentials:
// a watch resumes where it was, at another server and as another user, and lists nothing.
func TestResumes(t *testing.T) {
	c, first := Local(t, Server{Audit: true})
	second, err := c.Add(Server{Name: "second", Audit: true})
	if err == nil {
		err = second.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	apply(t, first, aNamespace(health.RouterNamespace), aNode("master-0", "192.0.2.20", map[string]string{label: ""}))
	apply(t, first, Objects(ourPlan)...)
	line, dir := newMeter(t, first.Address.String()), filepath.Join(t.TempDir(), "kubelet")
	wear := func(node string) {
		id, err := c.Sign(Node(node))
		if err := errors.Join(err, os.MkdirAll(dir, 0o700), c.WriteKubelet(dir, dir, line.url(), id)); err != nil {
			t.Fatal(err)
		}
	}
	worker, master := newMonitor(t, filepath.Join(dir, "kubeconfig"), false), newMonitor(t, filepath.Join(dir, "kubeconfig"), true)
	time.Sleep(200 * time.Millisecond) // the kubeconfig appears late
	wear("old-name")
	knows := func(n int) func() bool {
		return func() bool {
			some, _ := worker.masters.Known()
			all, _ := master.all.Known()
			_, known := master.routers.Ready()
			return len(some) == n && len(all) == n && known
		}
	}
	eventually(t, "one master is known", master, knows(1))
	watched := func() bool {
		asked := requests(t, first, "system:node:old-name")
		return len(slices.DeleteFunc(asked, func(r string) bool { return !strings.HasPrefix(r, "watch ") })) >= 5
	}
	eventually(t, "all that is listed first is watched", master, watched)
	before := requests(t, first, "system:node:old-name")

	line.lead(first.Address.String())
	apply(t, second, aNode("master-1", "192.0.2.21", map[string]string{label: ""}))
	eventually(t, "the second master is seen after a cut", master, knows(2))
	after := requests(t, first, "system:node:old-name")[len(before):]
	if lists := slices.DeleteFunc(after, func(r string) bool { return strings.HasPrefix(r, "watch ") }); len(lists) > 0 {
		t.Errorf("after a cut: %q, want watches alone", lists)
	}

	wear("new-name")
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	line.lead(second.Address.String())
	apply(t, second, aNode("master-2", "192.0.2.22", map[string]string{label: ""}))
	eventually(t, "the third master is seen by another server", master, knows(3))
	eventually(t, "every watch is asked for again", master, func() bool { return len(requests(t, second, "system:node:new-name")) >= 5 })
	asked := requests(t, second, "system:node:new-name")
	// What was listed from the first server's cache may be older than the second one's memory
	// reaches, until a bookmark comes: few objects are then listed once more, from a cache again.
	few := func(r string) bool {
		return !strings.Contains(r, "/nodes") && strings.Contains(r, "&resourceVersion=")
	}
	for _, r := range asked {
		switch {
		case strings.HasPrefix(r, "list ") && few(r):
		case !strings.HasPrefix(r, "watch "):
			t.Errorf("at another server, with another certificate: %s, want watches, and few objects from the cache", r)
		case !strings.Contains(r, "allowWatchBookmarks=true") || !strings.Contains(r, "resourceVersion=") || !strings.Contains(r, "timeoutSeconds="):
			t.Errorf("%s: want a watch with bookmarks, a version and an end", r)
		}
	}
	if old := requests(t, second, "system:node:old-name"); len(old) > 0 {
		t.Errorf("the old certificate is still used: %q", old)
	}
}

// TestListInPages has more Nodes than a page holds.
func TestListInPages(t *testing.T) {
	c, s := Local(t, Server{Audit: true})
	apply(t, s, Objects(ourPlan)[:3]...)
	const n = 250
	many := crowd{t, s.Admin()}
	many.each(n, func(i int) error {
		return many.client.Do(t.Context(), http.MethodPost, "/api/v1/nodes", aNode(fmt.Sprintf("worker-%03d", i), "192.0.2.10", nil), nil)
	})
	master := newMonitor(t, c.kubelet(t, s, "master-0"), true)
	eventually(t, "all Nodes are known", master, func() bool { all, synced := master.all.Known(); return synced && len(all) == n })
	lists := 0
	for _, r := range requests(t, s, "system:node:master-0") {
		if strings.HasPrefix(r, "list /api/v1/nodes") {
			lists++
		}
	}
	if lists != 3 {
		t.Errorf("%d pages of a list of %d, want 3", lists, n)
	}
}

// TestCrowdList_FromCache has workers that watch all Nodes, as with timing compat: their lists are
// complete and cost etcd nothing.
func TestCrowdList_FromCache(t *testing.T) {
	c, s := Local(t, Server{Audit: true})
	apply(t, s, Objects(ourPlan)[:3]...)
	const n, followers = 250, 3
	many := crowd{t, s.Admin()}
	many.each(n, func(i int) error {
		return many.client.Do(t.Context(), http.MethodPost, "/api/v1/nodes", aNode(fmt.Sprintf("worker-%03d", i), "192.0.2.10", nil), nil)
	})
	stored := func() (lists int) {
		t.Helper()
		answer, err := s.client.http.Get(s.URL() + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "apiserver_storage_list_total{") && strings.Contains(line, `"nodes"`) {
				fmt.Sscanf(line[strings.LastIndex(line, " ")+1:], "%d", &lists)
			}
		}
		return lists
	}
	before := stored()
	if before == 0 {
		t.Fatal("the server does not count its reads of stored Nodes")
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	credentials := c.kubelet(t, s, "worker-000")
	for range followers {
		all := kube.NewAPI(credentials, slog.New(slog.DiscardHandler)).Crowd().AllNodes(label)
		running.Go(func() { _ = all.Run(ctx) })
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if known, synced := all.Known(); synced && len(known) == n {
				break
			} else if time.Now().After(end) {
				t.Fatalf("%d Nodes are known, want %d", len(known), n)
			}
		}
	}
	if lists := stored() - before; lists > 0 {
		t.Errorf("%d lists of what is stored for %d followers, want none: %q", lists, followers, requests(t, s, "system:node:worker-000"))
	}
	t.Logf("%q", requests(t, s, "system:node:worker-000"))
}

// writer is an API with all rights.
func writer(t *testing.T) (*kube.API, *Server) {
	t.Helper()
	c, s := Local(t, Server{})
	apply(t, s, aNamespace(ours))
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, c.Kubeconfig(s.URL(), c.admin), 0o600); err != nil {
		t.Fatal(err)
	}
	return kube.NewAPI(path, slog.New(slog.DiscardHandler)), s
}

func read(t *testing.T, s *Server, name string) (*corev1.ConfigMap, error) {
	t.Helper()
	object := new(corev1.ConfigMap)
	return object, s.Admin().Do(t.Context(), http.MethodGet, "/api/v1/namespaces/"+ours+"/configmaps/"+name, nil, object)
}

// TestWriters has several writers of one object: none undoes the change of another.
func TestWriters(t *testing.T) {
	api, s := writer(t)
	var running sync.WaitGroup
	for w := range 4 {
		running.Go(func() {
			for i := range 10 {
				add := func(now map[string]string) map[string]string {
					now = maps.Clone(now)
					if now == nil {
						now = map[string]string{}
					}
					now[fmt.Sprintf("%d-%d", w, i)] = ""
					return now
				}
				for api.Put(t.Context(), ours, notice.Bootstrap, add) != nil { // five others were faster
				}
			}
		})
	}
	running.Wait()
	object, err := read(t, s, notice.Bootstrap)
	if err != nil || len(object.Data) != 40 {
		t.Errorf("%d of 40 entries are there (%v)", len(object.Data), err)
	}

	object.Labels = map[string]string{"theirs": "kept"}
	if err := s.Admin().Do(t.Context(), http.MethodPut, "/api/v1/namespaces/"+ours+"/configmaps/"+notice.Bootstrap, object, nil); err != nil {
		t.Fatal(err)
	}
	if err := api.Put(t.Context(), ours, notice.Bootstrap, func(map[string]string) map[string]string { return map[string]string{"a": "b"} }); err != nil {
		t.Fatal(err)
	}
	if object, err = read(t, s, notice.Bootstrap); err != nil || object.Labels["theirs"] != "kept" || !maps.Equal(object.Data, map[string]string{"a": "b"}) {
		t.Errorf("after a write: %v %v (%v)", object.Labels, object.Data, err)
	}
	version := object.ResourceVersion
	for name, leave := range map[string]map[string]string{"nil leaves it": nil, "the same": {"a": "b"}} {
		if err := api.Put(t.Context(), ours, notice.Bootstrap, func(map[string]string) map[string]string { return leave }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if object, err = read(t, s, notice.Bootstrap); err != nil || object.ResourceVersion != version {
		t.Errorf("what needs no write was written (%v)", err)
	}
	deletes(t, api, s)
}

// deletes removes an object only if it has not changed since it was read.
func deletes(t *testing.T, api *kube.API, s *Server) {
	t.Helper()
	asked := 0
	err := api.Delete(t.Context(), ours, notice.Bootstrap, func(now map[string]string) bool {
		asked++
		if now["a"] != "b" {
			return false
		}
		if err := api.Put(t.Context(), ours, notice.Bootstrap, func(map[string]string) map[string]string { return map[string]string{"a": "new"} }); err != nil {
			t.Error(err)
		}
		return true
	})
	if object, gone := read(t, s, notice.Bootstrap); err != nil || asked != 2 || gone != nil || object.Data["a"] != "new" {
		t.Errorf("an object that changed meanwhile: %v, asked %d times, %v (%v), want it kept", err, asked, object.Data, gone)
	}
	for range 2 { // the second time there is none
		if err := api.Delete(t.Context(), ours, notice.Bootstrap, func(map[string]string) bool { return true }); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if _, err := read(t, s, notice.Bootstrap); err == nil {
		t.Error("the object is still there")
	}
	err = api.Put(t.Context(), "no-such-namespace", notice.Bootstrap, func(map[string]string) map[string]string { return map[string]string{} })
	if err == nil || !strings.Contains(err.Error(), "no-such-namespace") {
		t.Errorf("a namespace that is not there: %v, want an error that names it", err)
	}
}
