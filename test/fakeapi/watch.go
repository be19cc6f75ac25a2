package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// watch streams the changes after the version that the client names, or from the beginning, and bookmarks while there are none.
func (a *API) watch(w http.ResponseWriter, r *http.Request, selected func(object) bool) {
	query := r.URL.Query()
	version, err := strconv.Atoi(query.Get("resourceVersion"))
	if err == nil && !a.nodes.starts(version) {
		// A server that was restarted knows no changes from before: the client must list anew.
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
	for {
		events, now, changed := a.nodes.since(version)
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
			at := object{"kind": "Node", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": strconv.Itoa(version)}}
			if out.Encode(event{Type: "BOOKMARK", Object: at}) != nil {
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

// selector reads a label selector; only KEY and KEY=VALUE, joined by commas, are known.
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
