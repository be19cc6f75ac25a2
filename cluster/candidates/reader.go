package candidates

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// backwards is how long a list must have been the newest before it takes the place of one with a higher number: the Node that held that
// one is gone, and another control plane node is about to write a newer one.
const backwards = time.Minute

// Reader knows the candidates, as the cluster last said in a way that could be believed. It is for one goroutine.
type Reader struct {
	cluster notice.Cluster
	list    []notice.Candidate
	known   bool // a list was read

	serial uint64    // of the list, where a Node held it
	older  time.Time // since when the newest list of all Nodes has had a lower number; zero when it has not

	texts   map[string]string // by control plane node: what was judged last, to judge each text once
	newest  notice.Published  // of texts
	says    bool              // one of texts can be believed
	former  map[string]string // the former release's object, as it was judged last
	judged  error             // of texts
	refused error             // of former
}

// NewReader has read nothing yet.
func NewReader(cluster notice.Cluster) *Reader { return &Reader{cluster: cluster} }

// Take looks at the lists that control plane nodes have on their Nodes, by the nodes' names, and says which of them cannot be believed.
// says is false when there is none that can: then the list stays as it was.
func (r *Reader) Take(texts map[string]string, now time.Time) (says bool, err error) {
	if r.texts == nil || !maps.Equal(texts, r.texts) {
		r.texts = maps.Clone(texts)
		r.newest, r.says, r.judged = Newest(texts, r.cluster)
	}
	if !r.says {
		return false, r.judged
	}
	if r.newest.Serial >= r.serial {
		r.older = time.Time{}
	} else if r.older.IsZero() {
		r.older = now
	}
	if r.newest.Serial >= r.serial || now.Sub(r.older) >= backwards {
		r.list, r.known, r.serial, r.older = r.newest.Candidates, true, r.newest.Serial, time.Time{}
	}
	return true, r.judged
}

// TakeFormer looks at the data of the object that control plane nodes of the former release write, which every kubelet may change: it is
// for as long as no control plane node has a list on its own Node. What cannot be believed leaves the list as it was.
func (r *Reader) TakeFormer(data map[string]string) error {
	if r.former != nil && maps.Equal(data, r.former) {
		return r.refused
	}
	list, err := notice.ReadCandidates(data, r.cluster)
	r.former, r.refused = maps.Clone(data), err
	if err != nil {
		r.refused = fmt.Errorf("read ingress candidates: %w", err)
		return r.refused
	}
	if r.serial == 0 {
		r.list, r.known = list, true
	}
	return nil
}

// Known is the list; ok is false until one was read.
func (r *Reader) Known() (list []notice.Candidate, ok bool) { return r.list, r.known }

// Newest is the list with the highest number of those that can be believed, and of two that have it the one of the first node by name. ok
// is false when there is none.
func Newest(texts map[string]string, cluster notice.Cluster) (newest notice.Published, ok bool, err error) {
	var faults []error
	for _, node := range slices.Sorted(maps.Keys(texts)) {
		p, err := notice.ReadPublished(texts[node], cluster)
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
