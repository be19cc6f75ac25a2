package candidates

import (
	"fmt"
	"maps"

	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// Reader knows the candidates, as the cluster last said in a way that could be believed. It is for one goroutine.
type Reader struct {
	cluster notice.Cluster
	list    []notice.Candidate
	known   bool              // a list was read
	judged  map[string]string // what was judged last, to judge each text once
	fault   error             // of judged
}

// NewReader has read nothing yet.
func NewReader(cluster notice.Cluster) *Reader { return &Reader{cluster: cluster} }

// Take looks at the object's data, and says why it cannot be believed: then the list stays as it was, as it does when there is no object and nothing
// to take.
func (r *Reader) Take(data map[string]string) error {
	if r.judged != nil && maps.Equal(data, r.judged) {
		return r.fault
	}
	list, err := notice.ReadCandidates(data, r.cluster)
	r.judged, r.fault = maps.Clone(data), err
	if err != nil {
		r.fault = fmt.Errorf("read ingress candidates: %w", err)
		return r.fault
	}
	r.list, r.known = list, true
	return nil
}

// Known is the list; ok is false until one was read.
func (r *Reader) Known() (list []notice.Candidate, ok bool) { return r.list, r.known }
