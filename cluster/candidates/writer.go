package candidates

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

const (
	// slot is how long a control plane node waits for each node before it to replace a wrong list.
	slot = 30 * time.Second
	// rest is the average time between two writes of one node: each is sent to every node.
	rest = 5 * time.Second
	// atOnce is how many writes may follow each other without a rest. Changes by people do not
	// wait, and a storm of changes does.
	atOnce = 10
	// patience is how long to wait for the API's answers about the routers and the former release's
	// list. A cluster may have none, or not yet the right to read them.
	patience = time.Minute
	// renew is the age at which a correct list is written again, with a newer serial: readers
	// ignore a list that is not renewed. It costs as much as kubelets' own reports, which come as
	// often.
	renew = 5 * time.Minute
)

// Observation is what a control plane node knows of the cluster.
type Observation struct {
	Nodes        []Node    // all of them
	Known        bool      // the API has reported them at least once
	Last         time.Time // when it last did
	Routers      []string  // names of the nodes with a ready router
	RoutersKnown bool      // the API has reported them at least once
	Former       Former
}

// Wanted is what this node writes now. The zero value writes nothing.
type Wanted struct {
	List   string            // on its own Node; empty for nothing
	Former map[string]string // into the former release's object; nil for nothing
}

// Writer decides when this node writes the list. It is for one goroutine.
type Writer struct {
	plan plan.Plan
	self string

	began  time.Time // when the API had reported the Nodes
	wrong  time.Time // since when the list has been wrong; zero when it is right
	rested time.Time // when all its writes have had their rest; zero before the first one
	serial uint64    // the highest serial of a list that was ever read or written
	lists  *Reader   // as this node's readers know them
	past   past
	sent   []notice.Candidate
	sentAt time.Time // when sent was last written

	tried   map[string]string // what was last written into the former release's object
	triedAt time.Time
}

// NewWriter is for the node of this name.
func NewWriter(p plan.Plan, self string) *Writer {
	return &Writer{plan: p, self: self, lists: NewReader(Cluster(p))}
}

// Decide returns what to write now, and the longest wait before the next call; zero means until
// something has changed.
func (w *Writer) Decide(now time.Time, s Observation) (want Wanted, again time.Duration) {
	if !s.Known {
		return Wanted{}, 0
	}
	nodes, lapses := w.past.settle(s.Nodes, now)
	s.Nodes = nodes
	want, again = w.decide(now, s)
	if lapses > 0 && (again == 0 || lapses < again) {
		again = lapses
	}
	return want, again
}

func (w *Writer) decide(now time.Time, s Observation) (want Wanted, again time.Duration) {
	if w.began.IsZero() {
		w.began = now
	}
	if wait := w.began.Add(patience).Sub(now); !(s.RoutersKnown && s.Former.Known) && wait > 0 {
		return Wanted{}, wait
	}
	texts := Lists(s.Nodes)
	newest, there, _ := Newest(texts, Cluster(w.plan), now) // an invalid list is none
	if beyond(w.serial, now) {
		w.serial = 0 // this machine's clock was ahead: no reader accepts the next serial
	}
	w.serial = max(w.serial, newest.Serial)
	_ = w.lists.Take(texts, s.Former, s.Last) // readers log what is wrong with them
	listed, _ := w.lists.Known()
	list := Rank(w.plan, s.Nodes, s.Routers, listed)
	due := time.Unix(int64(newest.Serial), 0).Add(renew).Sub(now)
	if there && due > 0 && slices.EqualFunc(list, newest.Candidates, notice.Candidate.Equal) {
		w.wrong = time.Time{}
		want, again = w.former(now, s, list)
		if again == 0 || due < again {
			again = due
		}
		return want, again
	}
	wait := w.sentAt.Add(rest).Sub(now)
	if wait > 0 && slices.EqualFunc(list, w.sent, notice.Candidate.Equal) {
		return Wanted{}, wait // the API has not shown it yet
	}
	if wait, ok := w.wait(now, s.Nodes); !ok || wait > 0 {
		return Wanted{}, wait
	}
	w.sent, w.sentAt = list, now
	w.serial = max(w.serial+1, uint64(now.Unix()))
	want.List = notice.EncodePublished(notice.Published{Serial: w.serial, Candidates: list})
	return want, rest
}

// wait is how long this node has to wait before it may write a list in the place of the wrong one.
// ok is false when it never may.
func (w *Writer) wait(now time.Time, nodes []Node) (wait time.Duration, ok bool) {
	place, ok := place(nodes, w.self)
	if !ok {
		return 0, false
	}
	if w.wrong.IsZero() {
		w.wrong = now
	}
	due := w.wrong.Add(time.Duration(place) * slot)
	if next := w.rested.Add(-(atOnce - 1) * rest); next.After(due) {
		due = next
	}
	if wait := due.Sub(now); wait > 0 {
		return wait, true
	}
	if w.rested.Before(now) {
		w.rested = now
	}
	w.rested = w.rested.Add(rest)
	return 0, true
}

// former copies the list into the former release's object, if there is one. Only nodes of that
// release read it, so it comes second, and the same text is not tried again for a while: the right
// to write it may be gone already.
func (w *Writer) former(
	now time.Time, s Observation, list []notice.Candidate,
) (Wanted, time.Duration) {
	data := notice.EncodeCandidates(list)
	place, ok := place(s.Nodes, w.self)
	if !s.Former.Exists || maps.Equal(data, s.Former.Data) || !ok || place > 0 {
		return Wanted{}, 0
	}
	if wait := w.triedAt.Add(slot).Sub(now); wait > 0 && maps.Equal(data, w.tried) {
		return Wanted{}, wait
	}
	w.tried, w.triedAt = data, now
	return Wanted{Former: data}, slot
}

// place is how many control plane nodes come before self: ready nodes first, each by name.
func place(nodes []Node, self string) (int, bool) {
	var ready, others []string
	for _, n := range slices.SortedFunc(slices.Values(nodes), byName) {
		switch {
		case !n.ControlPlane:
		case n.Ready:
			ready = append(ready, n.Name)
		default:
			others = append(others, n.Name)
		}
	}
	i := slices.Index(append(ready, others...), self)
	return i, i >= 0
}

// Host is the cluster as the writer sees it.
type Host interface {
	Observe() Observation
	// Publish puts a list on this node's own Node.
	Publish(ctx context.Context, list string) error
	// WriteFormer writes data into the former release's object, if that still holds before.
	WriteFormer(ctx context.Context, before, data map[string]string) error
}

// Run writes the list if this node is the one to write it, until ctx ends. It decides after each
// wake-up, which must come whenever the observation has changed.
func Run(ctx context.Context, w *Writer, host Host, wake <-chan struct{}, log *slog.Logger) error {
	logged := ""
	for {
		seen := host.Observe()
		want, again := w.Decide(time.Now(), seen)
		if want.List != "" || want.Former != nil {
			switch err := write(ctx, host, seen, want); {
			case ctx.Err() != nil:
			case err == nil:
				logged = ""
				log.Info("ingress candidates written")
			case err.Error() != logged:
				logged = err.Error()
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

func write(ctx context.Context, host Host, seen Observation, want Wanted) error {
	if want.List != "" {
		return host.Publish(ctx, want.List)
	}
	return host.WriteFormer(ctx, seen.Former.Data, want.Former)
}
