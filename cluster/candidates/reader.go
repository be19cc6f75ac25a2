package candidates

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
)

const (
	// backwards is how long a list must have been the newest before it replaces one with a higher
	// serial, whose Node is gone: another control plane node is about to write a newer one.
	backwards = time.Minute
	// kept is how long a list counts without a newer serial. A writer renews it every renew, so
	// after this time no writer runs any more, as after a rollback to the former release.
	kept = 3 * renew
	// ahead is how far a list's serial may be ahead of this machine's clock. A higher one could not
	// be replaced by the next list, whose serial is the time.
	ahead = time.Hour
	// gapCounts is the longest time without an answer of the API that still ages a list: no list is
	// renewed while the API is away.
	gapCounts = 2 * time.Minute
)

// Former is the object of the former release. Every kubelet may change it.
type Former struct {
	Data   map[string]string
	Exists bool
	Known  bool // the API has answered at least once whether it exists
}

// Reader holds the last valid list of candidates. It is for one goroutine.
type Reader struct {
	cluster notice.Cluster
	list    []notice.Candidate
	known   bool // a list was read

	answered time.Time // when the API last reported the Nodes
	serial   uint64    // of the list, where a Node held it
	renewed  time.Time // when serial was first seen; of the first one when it was written
	older    time.Time // since when the newest list has had a lower number; zero when it has not

	texts   map[string]string // by control plane node: judged last, to judge valid ones once
	newest  notice.Published  // of texts
	valid   bool              // one of texts is valid
	former  map[string]string // the former release's object, as it was judged last
	formers []notice.Candidate
	judged  error // of texts
	refused error // of former
}

// NewReader has read nothing yet.
func NewReader(cluster notice.Cluster) *Reader { return &Reader{cluster: cluster} }

// Take reads the lists on the Nodes of the control plane, by the nodes' names, and the former
// release's object, which counts only while no list on a Node is renewed. now is when the API last
// reported the Nodes. The error names the invalid ones; without a valid one the list stays as it
// was.
func (r *Reader) Take(texts map[string]string, former Former, now time.Time) error {
	if gap := now.Sub(r.answered); gap > gapCounts {
		r.renewed = r.renewed.Add(gap)
	}
	r.answered = now
	if r.texts == nil || r.judged != nil || !maps.Equal(texts, r.texts) {
		r.texts = maps.Clone(texts)
		r.newest, r.valid, r.judged = Newest(texts, r.cluster, now)
	}
	if r.valid && r.newest.Serial > r.serial {
		r.renewed = now
		if written := time.Unix(int64(r.newest.Serial), 0); r.serial == 0 && written.Before(now) {
			r.renewed = written // this reader has just started, and has not seen when it appeared
		}
		r.serial = r.newest.Serial
	}
	switch {
	case now.Sub(r.renewed) < kept:
		if r.valid {
			r.takeNewest(now)
		}
	case former.Exists:
		return errors.Join(r.judged, r.takeFormer(former.Data))
	case r.valid && !r.known && former.Known:
		r.list, r.known = r.newest.Candidates, true // there is no better one
	}
	return r.judged
}

func (r *Reader) takeNewest(now time.Time) {
	if r.newest.Serial >= r.serial {
		r.older = time.Time{}
	} else if r.older.IsZero() {
		r.older = now
	}
	if r.newest.Serial >= r.serial || now.Sub(r.older) >= backwards {
		r.list, r.known, r.serial, r.older = r.newest.Candidates, true, r.newest.Serial, time.Time{}
	}
}

func (r *Reader) takeFormer(data map[string]string) error {
	if r.former == nil || !maps.Equal(data, r.former) {
		r.former = maps.Clone(data)
		r.formers, r.refused = notice.ReadCandidates(data, r.cluster)
	}
	if r.refused != nil {
		return fmt.Errorf("read ingress candidates: %w", r.refused)
	}
	r.list, r.known = r.formers, true
	return nil
}

// Known is the list; ok is false until one was read.
func (r *Reader) Known() (list []notice.Candidate, ok bool) { return r.list, r.known }

// beyond reports whether a serial is too far ahead of a clock.
func beyond(serial uint64, now time.Time) bool {
	return time.Unix(int64(serial), 0).After(now.Add(ahead))
}

// Newest is the valid list with the highest serial, of the first node by name if two have it. ok is
// false if there is none.
func Newest(
	texts map[string]string, cluster notice.Cluster, now time.Time,
) (newest notice.Published, ok bool, err error) {
	var faults []error
	for _, node := range slices.Sorted(maps.Keys(texts)) {
		p, err := notice.ReadPublished(texts[node], cluster)
		if err == nil && beyond(p.Serial, now) {
			err = fmt.Errorf("%s: the serial %d is a time more than %v ahead of this machine's "+
				"clock: set the clocks of both", notice.PublishedKey, p.Serial, ahead)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("read ingress candidates of Node %s: %w", node, err))
			continue
		}
		if p.Serial > newest.Serial {
			newest, ok = p, true
		}
	}
	return newest, ok, errors.Join(faults...)
}
