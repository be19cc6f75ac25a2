package kube

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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
		if want := []addr.Node{node1("master-0", "192.0.2.20"), node1("master-1", "192.0.2.11")}; !reflect.DeepEqual(got, want) {
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

// K-64: hours of watching cost no list; an ended stream goes on where it was, by a bookmark if nothing else happened.
func TestSteadyStateListsNothing(t *testing.T) {
	inVirtualTime(t, func(w world) {
		w.api.set("master-0", at("192.0.2.10"))
		expect(t, w, "master-0")
		for minute := range 120 {
			w.api.bookmark(1000 + minute)
			if minute%7 == 0 {
				w.api.endWatches()
			}
			time.Sleep(time.Minute)
		}
		w.api.bookmark(5000)
		w.names()
		w.api.endWatches()
		time.Sleep(pace)
		expect(t, w, "master-0")
		lists, watches := w.api.counts()
		if lists != 1 || watches > 40 {
			t.Errorf("%d lists and %d watches in two hours, want 1 list and a watch for each stream", lists, watches)
		}
		if last := w.api.asked[len(w.api.asked)-1]; last != "5000" {
			t.Errorf("the last watch began at version %s, want the bookmark's 5000", last)
		}
		if strings.Contains(w.log.String(), "WARN") {
			t.Errorf("log:\n%swant no warning: streams end", w.log)
		}
	})
}

// A stream is asked to end by itself, and cut when the API does not end it.
func TestStreamsHaveAnEnd(t *testing.T) {
	inVirtualTime(t, func(w world) {
		w.api.endless = true
		w.names()
		time.Sleep(2*streamFor + answerWithin + pace + time.Second)
		w.names()
		if _, watches := w.api.counts(); watches < 2 {
			t.Errorf("%d watches, want a second one after %v of silence", watches, 2*streamFor+answerWithin)
		}
		w.api.set("master-0", at("192.0.2.10"))
		expect(t, w, "master-0")
	})
}

func TestForgottenVersionListsAgain(t *testing.T) {
	for _, tt := range []struct {
		name   string
		refuse func(http.ResponseWriter, *http.Request) bool
	}{
		{"told by an event", nil},
		{"told by the status", func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("resourceVersion") == "103" {
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
				delete(w.api.nodes, "master-1") // while nobody watched
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

// K-23: whatever the API says or does not say, what is known stays, and one line tells why it may be old.
func TestFaultsEmptyNothing(t *testing.T) {
	text := func(code int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			io.WriteString(w, body)
			return true
		}
	}
	for _, tt := range []struct {
		name   string
		refuse func(http.ResponseWriter, *http.Request) bool
		lists  int // over ten attempts, 0 when the watch is only tried again
	}{
		{"500", text(500, ""), 0},
		{"503 in plain text", text(503, "apiserver not ready"), 0},
		{"429", text(429, `{"kind":"Status","code":429,"message":"slow down"}`), 0},
		{"403", text(403, `{"kind":"Status","code":403,"message":"forbidden"}`), 10},
		{"410 for ever", text(410, `{"kind":"Status","code":410,"message":"gone"}`), 10},
		{"an empty object", text(200, "{}"), 0},
		{"a page", text(200, "<html>"), 0},
		{"half an object", text(200, `{"type":"ADDED","object":{"kind":"No`), 0},
		{"an event without a node", text(200, `{"type":"DELETED","object":{}}`), 0},
		{"a node of another shape", text(200, `{"type":"ADDED","object":[1,2]}`), 0},
		{"an empty list", text(410, `{"kind":"NodeList","items":[]}`), 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inVirtualTime(t, func(w world) {
				w.api.set("master-0", at("192.0.2.10"))
				expect(t, w, "master-0")
				w.woken()
				before, _ := w.api.counts()
				w.api.answer(tt.refuse)
				w.api.endWatches()
				time.Sleep(10*pace + pace/2)
				expect(t, w, "master-0")
				if _, synced := w.watcher.Nodes(); !synced || w.woken() {
					t.Errorf("synced %v, want it kept, and no wake-up", synced)
				}
				if after, _ := w.api.counts(); after-before > tt.lists {
					t.Errorf("%d lists, want at most %d", after-before, tt.lists)
				}
				if n := strings.Count(w.log.String(), "level=WARN"); n < 1 || n > 2 {
					t.Errorf("%d warnings in ten attempts, want one for each kind of fault:\n%s", n, w.log)
				}
				w.api.answer(nil)
				w.api.set("master-1", at("192.0.2.11"))
				time.Sleep(2 * pace)
				w.api.bookmark(2000)
				expect(t, w, "master-0", "master-1")
				if !strings.Contains(w.log.String(), "watch nodes again") {
					t.Errorf("log:\n%swant a word of the recovery", w.log)
				}
			})
		})
	}
}

func TestBadListsAreNoLists(t *testing.T) {
	for _, body := range []string{"", "{}", "<html>", `{"kind":"NodeList","items":[]}`, `{"kind":"PodList","metadata":{"resourceVersion":"7"}}`,
		`{"kind":"NodeList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"master-9","labels":{"node-role.kubernetes.io/master":""}}}`} {
		t.Run(body, func(t *testing.T) {
			inVirtualTime(t, func(w world) {
				w.api.answer(func(rw http.ResponseWriter, _ *http.Request) bool { io.WriteString(rw, body); return true })
				time.Sleep(3 * pace)
				if nodes, synced := w.watcher.Nodes(); len(nodes) != 0 || synced {
					t.Errorf("%v, synced %v, want nothing known", nodes, synced)
				}
			})
		})
	}
}

// K-31: a node that registers just after the API came up is seen within about a second, however long the API was away.
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

// K-40: an API that takes questions and never answers holds nobody for longer than the bound.
func TestSilentAPI(t *testing.T) {
	inVirtualTime(t, func(w world) {
		w.api.answer(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
		time.Sleep(time.Second)
		w.api.answer(nil)
		w.api.set("master-0", at("192.0.2.10"))
		time.Sleep(answerWithin + pace)
		expect(t, w, "master-0")

		w.api.answer(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
		w.api.endWatches()
		time.Sleep(2 * pace)
		w.api.answer(nil)
		w.api.set("master-1", at("192.0.2.11"))
		time.Sleep(answerWithin + pace)
		expect(t, w, "master-0", "master-1")
	})
}

func TestAnotherAPIStartsAnew(t *testing.T) {
	inVirtualTime(t, func(w world) {
		w.api.set("master-0", at("192.0.2.10"))
		expect(t, w, "master-0")
		other := newFakeAPI()
		other.set("cp-0", at("198.51.100.10"))
		w.watcher.access.mu.Lock()
		w.watcher.access.client = &http.Client{Transport: inMemory{other}}
		w.watcher.access.mu.Unlock()
		w.api.endWatches()
		time.Sleep(pace)
		expect(t, w, "cp-0")
		if lists, _ := other.counts(); lists != 1 {
			t.Errorf("%d lists of the other API, want 1", lists)
		}
	})
}

// An error that lasts must read the same at each attempt, or each attempt is a line of the log.
func TestStableErrors(t *testing.T) {
	refused := func(seconds, port int) error {
		return &url.Error{Op: "Get", URL: fmt.Sprintf("https://localhost:6443/?timeoutSeconds=%d", seconds), Err: &net.OpError{
			Op: "read", Net: "tcp", Err: errors.New("connection reset by peer"),
			Source: &net.TCPAddr{IP: net.IPv6loopback, Port: port}, Addr: &net.TCPAddr{IP: net.IPv6loopback, Port: 6443},
		}}
	}
	const want = "read tcp [::1]:6443: connection reset by peer"
	for i, err := range []error{stable(refused(301, 40001)), stable(refused(302, 40002))} {
		if err.Error() != want {
			t.Errorf("attempt %d: %q, want %q", i, err, want)
		}
	}
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
