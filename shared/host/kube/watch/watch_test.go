package watch

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

func expect(t *testing.T, w world, want ...string) {
	t.Helper()
	if got := w.names(); !slices.Equal(got, append([]string{}, want...)) {
		t.Errorf("the control plane is %v, want %v", got, want)
	}
}

func TestFollowsTheControlPlane(t *testing.T) {
	inVirtualTime(t, func(w world) {
		w.names()
		if nodes, synced := w.watcher.Nodes(); len(nodes) != 0 || !synced || !w.woken() {
			t.Errorf("an empty cluster: %v, synced %v, want a wake-up and synced", nodes, synced)
		}
		w.api.set("worker-0", fakeNode{Labels: map[string]string{"node-role.kubernetes.io/worker": ""}})
		if w.woken() {
			t.Error("woken by a worker")
		}
		w.api.set("master-1", at("192.0.2.11"))
		w.api.set("master-0", at("192.0.2.10"))
		expect(t, w, "master-0", "master-1")
		if !w.woken() || w.woken() {
			t.Error("want one wake-up for new nodes")
		}
		w.api.set("master-0", at("192.0.2.10"))
		if w.woken() {
			t.Error("woken by a heartbeat that changes nothing")
		}
		w.api.set("master-0", at("192.0.2.20"))
		if !w.woken() {
			t.Error("not woken by a new address")
		}
		got, _ := w.watcher.Nodes()
		if want := []addr.Candidate{node1("master-0", "192.0.2.20"), node1("master-1", "192.0.2.11")}; !reflect.DeepEqual(got, want) {
			t.Errorf("Nodes() = %v, want %v", got, want)
		}
		w.api.set("master-1", fakeNode{})
		w.api.remove("worker-0")
		expect(t, w, "master-0")
		w.api.remove("master-0")
		expect(t, w)
		if !w.woken() {
			t.Error("not woken by the end of a node")
		}
	})
}

// K-64: hours of watching cost no list; an ended stream resumes where it was, by a bookmark if
// nothing else happened. There are 500 Nodes, each with a heartbeat every five minutes.
func TestSteadyStateListsNothing(t *testing.T) {
	const nodes, fresh = 500, 5
	worker := fakeNode{Labels: map[string]string{"node-role.kubernetes.io/worker": ""}}
	inVirtualTime(t, func(w world) {
		w.api.set("master-0", at("192.0.2.10"))
		for i := range nodes - 1 {
			w.api.set(fmt.Sprint("worker-", i), worker)
		}
		expect(t, w, "master-0")
		for minute := range 120 {
			for i := minute % fresh; i < nodes-1; i += fresh {
				w.api.set(fmt.Sprint("worker-", i), worker)
			}
			w.api.bookmark(1000 * (minute + 1))
			if minute%7 == 0 {
				w.api.endWatches()
			}
			time.Sleep(time.Minute)
		}
		w.api.bookmark(500000)
		w.names()
		w.api.endWatches()
		time.Sleep(pace)
		expect(t, w, "master-0")
		lists, watches := w.api.counts()
		if lists != 1 || watches > 40 {
			t.Errorf("%d lists and %d watches in two hours, want 1 list and a watch for each stream", lists, watches)
		}
		if last := w.api.asked[len(w.api.asked)-1]; last != "500000" {
			t.Errorf("the last watch began at version %s, want the bookmark's 500000", last)
		}
		if strings.Contains(w.log.String(), "WARN") {
			t.Errorf("log:\n%swant no warning: streams end", w.log)
		}
	})
}

func TestForgottenVersionListsAgain(t *testing.T) {
	for _, tt := range []struct {
		name   string
		refuse func(http.ResponseWriter, *http.Request) bool
	}{
		{"by an event", nil},
		{"by the status", func(w http.ResponseWriter, r *http.Request) bool {
			if q := r.URL.Query(); q.Get("watch") == "true" && q.Get("resourceVersion") == "103" {
				http.Error(w, `{"kind":"Status","code":410,"message":"too old"}`, http.StatusGone)
				return true
			}
			return false
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inVirtualTime(t, func(w world) {
				w.api.set("master-0", at("192.0.2.10"))
				w.api.set("master-1", at("192.0.2.11"))
				w.api.set("master-2", at("192.0.2.12"))
				expect(t, w, "master-0", "master-1", "master-2")
				w.api.answer(tt.refuse)
				w.api.mu.Lock()
				delete(w.api.nodes, "master-1") // between two watches
				w.api.mu.Unlock()
				w.api.forget()
				w.api.endWatches()
				time.Sleep(3 * pace)
				expect(t, w, "master-0", "master-2")
				if lists, _ := w.api.counts(); lists != 2 {
					t.Errorf("%d lists, want 2", lists)
				}
				w.api.set("master-3", at("192.0.2.13"))
				expect(t, w, "master-0", "master-2", "master-3")
			})
		})
	}
}

// K-31: a node that registers just after the API came up is seen within about a second, however
// long the API was away.
func TestSeenSoonAfterTheAPIComesUp(t *testing.T) {
	for _, away := range []time.Duration{0, 10 * time.Second, 20 * time.Minute} {
		t.Run(away.String(), func(t *testing.T) {
			inVirtualTime(t, func(w world) {
				w.api.answer(func(rw http.ResponseWriter, _ *http.Request) bool {
					http.Error(rw, "starting", http.StatusServiceUnavailable)
					return true
				})
				time.Sleep(away + 100*time.Millisecond)
				w.api.answer(nil)
				w.api.set("master-0", at("192.0.2.10"))
				time.Sleep(pace)
				expect(t, w, "master-0")
			})
		})
	}
}

func TestAnotherAPIStartsAnew(t *testing.T) {
	inVirtualTime(t, func(w world) {
		w.api.set("master-0", at("192.0.2.10"))
		expect(t, w, "master-0")
		time.Sleep(time.Minute)
		other := newFakeAPI()
		other.set("cp-0", at("198.51.100.10"))
		other.host = "https://api-int.other.test:6443"
		w.access.set(other)
		w.api.endWatches()
		time.Sleep(pace)
		expect(t, w, "cp-0")
		if lists, _ := other.counts(); lists != 1 {
			t.Errorf("%d lists of the other API, want 1", lists)
		}
	})
}

func TestManyNodes(t *testing.T) {
	inVirtualTime(t, func(w world) {
		for i := range 500 {
			w.api.set(fmt.Sprintf("worker-%03d", i), fakeNode{})
		}
		w.api.set("master-0", at("192.0.2.10"))
		expect(t, w, "master-0")
	})
}
