package watch

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The API is asked to end a stream; if it does not, the stream is cut.
func TestStreamsHaveAnEnd(t *testing.T) {
	const longest = 10 * time.Minute // that client-go asks for
	inVirtualTime(t, func(w world) {
		w.api.endless.Store(true)
		w.names()
		time.Sleep(longest + AnswerWithin + pace + time.Second)
		w.names()
		if _, watches := w.api.counts(); watches < 2 {
			t.Errorf("%d watches, want a second one after %v of silence", watches, longest+AnswerWithin)
		}
		w.api.set("master-0", at("192.0.2.10"))
		expect(t, w, "master-0")
	})
}

// K-23: whatever the API answers or does not answer, what is known stays, and one log line gives
// the reason why it may be old.
func TestFaultsEmptyNothing(t *testing.T) {
	text := func(code int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			io.WriteString(w, body)
			return true
		}
	}
	forgotten := func(list string) func(http.ResponseWriter, *http.Request) bool {
		gone := text(410, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"gone"}`)
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("watch") != "" {
				return gone(w, r)
			}
			return text(200, list)(w, r)
		}
	}
	for _, tt := range []struct {
		name   string
		refuse func(http.ResponseWriter, *http.Request) bool
		lists  int // at most, over ten attempts
	}{
		{"429", text(429, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,"message":"slow down"}`), 0},
		{"429 in plain text", text(429, "slow down"), 0},
		{"500", text(500, ""), 0},
		{"503 in plain text", text(503, "apiserver not ready"), 0},
		{"403", text(403, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"forbidden"}`), 0},
		{"401", text(401, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401,"message":"Unauthorized"}`), 0},
		{"410 for ever", text(410, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"gone"}`), 22},
		{"an empty object", text(200, "{}"), 11},
		{"a page", text(200, "<html>"), 11},
		{"half an object", text(200, `{"type":"ADDED","object":{"kind":"No`), 11},
		{"an event without a node", text(200, `{"type":"DELETED","object":{}}`), 11},
		{"a node of another shape", text(200, `{"type":"ADDED","object":[1,2]}`), 11},
		{"an empty list", text(200, `{"kind":"NodeList","apiVersion":"v1","items":[]}`), 11},
		{"a list of something else", text(200, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`), 11},
		{"forgotten, and an empty list", forgotten(`{"kind":"NodeList","apiVersion":"v1","items":[]}`), 22},
		{"forgotten, and a list of something else", forgotten(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`), 22},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inVirtualTime(t, func(w world) {
				w.api.set("master-0", at("192.0.2.10"))
				expect(t, w, "master-0")
				w.woken()
				before, _ := w.api.counts()
				time.Sleep(time.Minute)
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
				if n := strings.Count(w.log.String(), "level=WARN"); n < 1 || n > 3 {
					t.Errorf("%d warnings in ten attempts, want one for each kind of fault:\n%s", n, w.log)
				}
				w.api.answer(nil)
				w.api.set("master-1", at("192.0.2.11"))
				time.Sleep(2 * pace)
				if strings.HasPrefix(tt.name, "40") { // after refusals requests are rare
					time.Sleep(seldom)
				}
				w.api.bookmark(2000)
				expect(t, w, "master-0", "master-1")
				if !strings.Contains(w.log.String(), "watch nodes again") {
					t.Errorf("log:\n%swant a line about the recovery", w.log)
				}
			})
		})
	}
}

// Connections are refused: what is known stays, the watch resumes where it was, and the first
// answer is there in time.
func TestAPIGoneForAWhile(t *testing.T) {
	inVirtualTime(t, func(w world) {
		w.api.set("master-0", at("192.0.2.10"))
		expect(t, w, "master-0")
		time.Sleep(time.Minute)
		w.api.down.Store(true)
		w.api.endWatches()
		time.Sleep(20*time.Minute + pace/2)
		expect(t, w, "master-0")
		w.api.set("master-1", at("192.0.2.11"))
		w.api.down.Store(false)
		time.Sleep(pace)
		expect(t, w, "master-0", "master-1")
		if lists, _ := w.api.counts(); lists != 1 {
			t.Errorf("%d lists, want only the first", lists)
		}
		if n := strings.Count(w.log.String(), "level=WARN"); n != 1 || !strings.Contains(w.log.String(), "connection refused") {
			t.Errorf("log:\n%swant one warning", w.log)
		}
		if !strings.Contains(w.log.String(), "watch nodes again") {
			t.Errorf("log:\n%swant a line about the recovery", w.log)
		}
	})
}

// An API that ends each watch after one event gets requests at the pace, not as fast as it answers.
func TestShortStreams(t *testing.T) {
	inVirtualTime(t, func(w world) {
		w.api.set("master-0", at("192.0.2.10"))
		expect(t, w, "master-0")
		time.Sleep(time.Minute)
		w.api.answer(func(rw http.ResponseWriter, _ *http.Request) bool {
			io.WriteString(rw, `{"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"200"}}}`)
			return true
		})
		_, before := w.api.counts()
		w.api.endWatches()
		time.Sleep(10*pace + pace/2)
		if lists, watches := w.api.counts(); lists != 1 || watches-before > 11 {
			t.Errorf("%d lists and %d watches in ten seconds, want 1 and one each second", lists, watches-before)
		}
	})
}

func TestBadListsAreNoLists(t *testing.T) {
	for _, body := range []string{"", "{}", "<html>", `{"kind":"NodeList","items":[]}`, `{"kind":"PodList","metadata":{"resourceVersion":"7"}}`,
		`{"kind":"NodeList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"master-9","labels":{"node-role.kubernetes.io/master":""}}}`} {
		t.Run(body, func(t *testing.T) {
			inVirtualTime(t, func(w world) {
				time.Sleep(3 * pace)
				if nodes, synced := w.watcher.Nodes(); len(nodes) != 0 || synced {
					t.Errorf("%v, synced %v, want nothing known", nodes, synced)
				}
			}, func(w world) { // before the first request, which may be sent at once
				w.api.answer(func(rw http.ResponseWriter, _ *http.Request) bool { io.WriteString(rw, body); return true })
			})
		})
	}
}

// K-40: an API that accepts requests and never answers delays a watch no longer than the bound.
func TestSilentAPI(t *testing.T) {
	inVirtualTime(t, func(w world) {
		w.api.answer(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
		time.Sleep(time.Second)
		w.api.answer(nil)
		w.api.set("master-0", at("192.0.2.10"))
		time.Sleep(AnswerWithin + pace)
		expect(t, w, "master-0")

		w.api.answer(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
		w.api.endWatches()
		time.Sleep(2 * pace)
		w.api.answer(nil)
		w.api.set("master-1", at("192.0.2.11"))
		time.Sleep(AnswerWithin + pace)
		expect(t, w, "master-0", "master-1")
	})
}

// Without the cluster objects the API refuses every node everything. A node tries a few times, as
// an API that has just started may not know its rights yet, then seldom, and logs once what to do.
// The same holds for a watch that is refused later.
func TestRefused(t *testing.T) {
	refuse := func(code int, reason string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"nodes is forbidden"}`, reason, code)
			return true
		}
	}
	const long = 10*time.Minute + refusals*pace + pace/2
	most := 10*int(time.Minute/seldom) + refusals + 1
	for _, tt := range []struct {
		code         int
		reason, word string
	}{{403, "Forbidden", "render --role=cluster"}, {401, "Unauthorized", "kubelet's credentials"}} {
		for _, later := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.reason, later), func(t *testing.T) {
				inVirtualTime(t, func(w world) {
					if later {
						w.api.set("master-0", at("192.0.2.10"))
						expect(t, w, "master-0")
						time.Sleep(time.Minute)
					}
					lists, watches := w.api.counts()
					w.api.answer(refuse(tt.code, tt.reason))
					w.api.endWatches()
					time.Sleep((refusals - 1) * pace)
					w.names()
					if l, n := w.api.counts(); l+n-lists-watches < refusals-1 {
						t.Errorf("%d requests in the first seconds, want once a second", l+n-lists-watches)
					}
					time.Sleep(long - (refusals-1)*pace)
					w.names()
					if l, n := w.api.counts(); l+n-lists-watches > most {
						t.Errorf("%d requests, want at most %d", l+n-lists-watches, most)
					}
					if n := strings.Count(w.log.String(), tt.word); n != 1 || strings.Count(w.log.String(), "WARN") != 1 {
						t.Errorf("what to do is logged %d times, want once:\n%s", n, w.log)
					}
					w.api.answer(nil)
					w.api.set("master-1", at("192.0.2.11"))
					time.Sleep(seldom + pace)
					w.names()
					if nodes, _ := w.watcher.Nodes(); len(nodes) == 0 || nodes[len(nodes)-1].Name != "master-1" {
						t.Errorf("after the right was given: %v", nodes)
					}
				})
			})
		}
	}
}
