// Package fault logs what is wrong with the watches of one API: one line for each cause, and one
// line when all watches work again but those that the host has no right to.
package fault

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// gather is how long the first fault waits for others of its cause: a cut connection fails all
	// watches that share it.
	gather = 300 * time.Millisecond
	// often is the time within which a second forgotten version of a watch is logged.
	often = time.Minute
)

// Log logs the faults of the watches of one API.
type Log struct {
	log *slog.Logger

	mu      sync.Mutex
	failing map[*Watch]cause
	since   map[*Watch]time.Time // the first fault of each that fails
	pending []*Watch             // failing watches that are not logged yet
	waiting bool                 // for more of them
	logged  map[line]bool        // since all watches worked
	expired map[*Watch]time.Time // when the API had forgotten the watch's version
	// names in the log since all watches worked, with their first fault since then
	lost map[string]time.Time
}

// Watch is what one watch reports its faults to.
type Watch struct {
	log   *Log
	name  string // in the log
	about Subject
}

// Subject is what a right is about.
type Subject struct {
	Group, Resource string
	Namespace       string // empty for what is in none
	Name            string // empty for all
}

// cause is an error as it is logged, and what a person has to do about it.
type cause struct {
	text, remedy string
	forbidden    bool
}

type line struct {
	watch *Watch
	text  string
}

// NewLog logs nothing yet.
func NewLog(log *slog.Logger) *Log {
	return &Log{
		log: log, failing: map[*Watch]cause{}, since: map[*Watch]time.Time{},
		logged: map[line]bool{}, expired: map[*Watch]time.Time{}, lost: map[string]time.Time{},
	}
}

// Watch adds a watch.
func (l *Log) Watch(name string, about Subject) *Watch {
	return &Watch{log: l, name: name, about: about}
}

// Failed records an error of the watch. An error that is logged already is not logged again, and
// only the last of several at once is logged.
func (w *Watch) Failed(err error) {
	l := w.log
	now := cause{text: plain(err), remedy: remedy(err), forbidden: apierrors.IsForbidden(err)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isExpected(w, err) {
		return
	}
	if _, failing := l.failing[w]; !failing {
		l.since[w] = time.Now()
	}
	l.failing[w] = now
	if l.logged[line{w, now.text}] || slices.Contains(l.pending, w) {
		l.logRecovery() // the API may answer again, if only by a refusal
		return
	}
	l.pending = append(l.pending, w)
	if !l.waiting {
		l.waiting = true
		time.AfterFunc(gather, l.logPending)
	}
}

// isExpected reports whether an error is that the API has forgotten the version of a watch, for the
// first time in a while. That is normal after an outage: the watch lists again.
func (l *Log) isExpected(w *Watch, err error) bool {
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		return false
	}
	now := time.Now()
	if ago := now.Sub(l.expired[w]); ago < often {
		return ago < gather
	}
	l.expired[w] = now
	return true
}

// Works records that the watch receives from the API.
func (w *Watch) Works() {
	l := w.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, failing := l.failing[w]; !failing {
		return
	}
	delete(l.failing, w)
	delete(l.since, w)
	l.logRecovery()
}

// logPending logs the pending watches that still fail, one line for each cause.
func (l *Log) logPending() {
	l.mu.Lock()
	defer l.mu.Unlock()
	hit := map[cause]map[string]bool{}
	var order []cause
	for _, w := range l.pending {
		now, failing := l.failing[w]
		if !failing || l.logged[line{w, now.text}] {
			continue
		}
		if hit[now] == nil {
			hit[now], order = map[string]bool{}, append(order, now)
		}
		hit[now][w.name], l.logged[line{w, now.text}] = true, true
		if first, lost := l.lost[w.name]; !lost || l.since[w].Before(first) {
			l.lost[w.name] = l.since[w]
		}
	}
	for _, c := range order {
		args := []any{"error", c.text}
		if c.remedy != "" {
			args = append(args, "do", c.remedy)
		}
		l.log.Warn("watch "+names(hit[c]), args...)
	}
	l.pending, l.waiting = nil, false
	l.logRecovery()
}

// logRecovery logs that all watches work again, once they do. It does not wait for a right that
// the host lacks: that may be for ever, and what fails meanwhile must be logged.
func (l *Log) logRecovery() {
	refused := map[string]bool{}
	for w, c := range l.failing {
		if !c.forbidden {
			return
		}
		refused[w.name] = true
	}
	if l.waiting {
		return
	}
	maps.DeleteFunc(l.logged, func(of line, _ bool) bool {
		now, failing := l.failing[of.watch]
		return !failing || now.text != of.text
	})
	var first time.Time
	again := map[string]bool{}
	for name, since := range l.lost {
		if refused[name] {
			continue
		}
		if delete(l.lost, name); len(again) == 0 || since.Before(first) {
			first = since
		}
		again[name] = true
	}
	if len(again) > 0 {
		l.log.Info("watch "+names(again)+" again",
			"after", time.Since(first).Round(100*time.Millisecond))
	}
}

func names(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), ", ") }

// Forbidden are the subjects that the API does not let the local host watch, by its last answers.
func (l *Log) Forbidden() (all []Subject) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w, c := range l.failing {
		if c.forbidden {
			all = append(all, w.about)
		}
	}
	slices.SortFunc(all, func(a, b Subject) int {
		return cmp.Or(
			cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return slices.Compact(all)
}
