package candidates

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

const (
	// turn is how long a control plane node leaves a wrong list to each of those that come before it.
	turn = 30 * time.Second
	// rest is the time between two writes of one node, on the average: each is sent to every worker of the cluster.
	rest = 5 * time.Second
	// atOnce is how many writes may follow each other without it. What people do to a cluster's nodes waits for nothing, and a storm does.
	atOnce = 10
	// patience is how long the list waits for word of the routers. A cluster may have none, or not yet the right to ask for them.
	patience = time.Minute
)

// Seen is what a control plane node knows of the cluster.
type Seen struct {
	Nodes        []Node            // all of them
	Data         map[string]string // of the object; nil when there is none
	Heard        bool              // the API has told of both at least once
	Routers      []string          // names of the nodes with a ready router
	RoutersHeard bool              // the API has told of them at least once
}

// Writer decides when this node writes the list. It is for one goroutine.
type Writer struct {
	plan plan.Plan
	self string

	began  time.Time // when the API had told of the Nodes and the object
	wrong  time.Time // since when the list has been wrong; zero when it is right
	rested time.Time // when this node has rested from all that it wrote; zero before it wrote anything
}

// NewWriter is for the node of this name.
func NewWriter(p plan.Plan, self string) *Writer { return &Writer{plan: p, self: self} }

// Decide says what to write now; nil is nothing, and then again is how long to wait at most before it is asked the next time. Zero is until
// something has changed.
func (w *Writer) Decide(now time.Time, s Seen) (data map[string]string, again time.Duration) {
	if !s.Heard {
		return nil, 0
	}
	if w.began.IsZero() {
		w.began = now
	}
	if wait := w.began.Add(patience).Sub(now); !s.RoutersHeard && wait > 0 {
		return nil, wait
	}
	listed, _ := notice.ReadCandidates(s.Data, Cluster(w.plan)) // what cannot be read is wrong, and nobody is listed
	want := notice.EncodeCandidates(Rank(w.plan, s.Nodes, s.Routers, listed))
	if maps.Equal(want, s.Data) {
		w.wrong = time.Time{}
		return nil, 0
	}
	place, ok := place(s.Nodes, w.self)
	if !ok {
		return nil, 0
	}
	if w.wrong.IsZero() {
		w.wrong = now
	}
	due := w.wrong.Add(time.Duration(place) * turn)
	if next := w.rested.Add(-(atOnce - 1) * rest); next.After(due) {
		due = next
	}
	if wait := due.Sub(now); wait > 0 {
		return nil, wait
	}
	if w.rested.Before(now) {
		w.rested = now
	}
	w.rested = w.rested.Add(rest)
	return want, rest
}

// place is how many control plane nodes come before self: those that work first, each by name.
func place(nodes []Node, self string) (int, bool) {
	var all []Node
	for _, n := range nodes {
		if n.ControlPlane {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b Node) int {
		switch {
		case a.Ready == b.Ready:
			return strings.Compare(a.Name, b.Name)
		case a.Ready:
			return -1
		default:
			return 1
		}
	})
	i := slices.IndexFunc(all, func(n Node) bool { return n.Name == self })
	return i, i >= 0
}

// Host is the cluster as the writer sees it.
type Host interface {
	Seen() Seen
	// Write makes the object hold data unless it holds something else than before by now.
	Write(ctx context.Context, before, data map[string]string) error
}

// Run writes the list when it is this node's turn, until ctx ends. It looks after each wake-up, which must come whenever Seen has changed.
func Run(ctx context.Context, w *Writer, host Host, wake <-chan struct{}, log *slog.Logger) error {
	said := ""
	for {
		seen := host.Seen()
		data, again := w.Decide(time.Now(), seen)
		if data != nil {
			switch err := host.Write(ctx, seen.Data, data); {
			case ctx.Err() != nil:
			case err == nil:
				said = ""
				log.Info("ingress candidates written")
			case err.Error() != said:
				said = err.Error()
				log.Warn("write ingress candidates", "error", err)
			}
		}
		var timer <-chan time.Time
		if again > 0 {
			timer = time.After(again)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
		case <-timer:
		}
	}
}
