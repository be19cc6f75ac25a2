package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// watch streams the changes after the client's version, and bookmarks while there are none. A
// client that requests initial events first receives the existing objects as added, and a bookmark
// at their end.
func (res resource) watch(w http.ResponseWriter, r *http.Request, selected func(object) bool) {
	query := r.URL.Query()
	version, err := strconv.Atoi(query.Get("resourceVersion"))
	initial := query.Get("sendInitialEvents") == "true"
	if err == nil && !initial && !res.starts(version) {
		// After a restart the server has no earlier changes: the client must list again.
		failure(w, http.StatusGone, "Expired", "too old or too large resource version")
		return
	}
	limit := make(<-chan time.Time)
	if seconds, err := strconv.Atoi(query.Get("timeoutSeconds")); err == nil && seconds > 0 {
		limit = time.After(time.Duration(seconds) * time.Second)
	}
	quiet := time.NewTicker(bookmarkEvery)
	defer quiet.Stop()
	w.Header().Set("Content-Type", "application/json")
	out, flush := json.NewEncoder(w), http.NewResponseController(w)
	bookmark := false
	if initial {
		var objects []object
		objects, version = res.list()
		for _, o := range objects {
			if selected(o) && out.Encode(event{Type: "ADDED", Object: o}) != nil {
				return
			}
		}
		if out.Encode(res.bookmarkAt(version, map[string]string{
			"k8s.io/initial-events-end": "true",
		})) != nil {
			return
		}
	}
	for {
		events, now, changed := res.since(version)
		version = now
		for _, e := range events {
			if !selected(e.Object) {
				continue
			}
			if out.Encode(e) != nil {
				return
			}
		}
		if bookmark && query.Get("allowWatchBookmarks") == "true" {
			if out.Encode(res.bookmarkAt(version, nil)) != nil {
				return
			}
		}
		if flush.Flush() != nil {
			return
		}
		bookmark = false
		select {
		case <-r.Context().Done():
			return
		case <-limit:
			return
		case <-changed:
		case <-quiet.C:
			bookmark = true
		}
	}
}

// bookmarkAt is an event with a version alone.
func (res resource) bookmarkAt(version int, annotations map[string]string) event {
	meta := map[string]any{"resourceVersion": strconv.Itoa(version)}
	if annotations != nil {
		meta["annotations"] = annotations
	}
	return event{
		Type:   "BOOKMARK",
		Object: object{"kind": res.kind, "apiVersion": res.version, "metadata": meta},
	}
}

// selector parses a label selector of KEY and KEY=VALUE, joined by commas.
func selector(text string) (func(object) bool, error) {
	type term struct {
		key, value string
		exact      bool
	}
	var terms []term
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		if strings.ContainsAny(part, "!() ") {
			return nil, fmt.Errorf("the fake does not know the selector %q", part)
		}
		key, value, exact := strings.Cut(part, "=")
		terms = append(terms, term{key: key, value: strings.TrimPrefix(value, "="), exact: exact})
	}
	return func(o object) bool {
		labels, _ := o.meta()["labels"].(map[string]any)
		for _, t := range terms {
			if value, ok := labels[t.key]; !ok || t.exact && value != t.value {
				return false
			}
		}
		return true
	}, nil
}
