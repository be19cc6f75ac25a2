package candidates

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// Reader knows the candidates, as the cluster last said in a way that could be believed. It is for one goroutine.
type Reader struct {
	cluster notice.Cluster
	data    map[string]string // that the list was read from
	list    []notice.Candidate
	judged  map[string]string // what was judged last, to judge each text once
	fault   error             // of judged
}

// NewReader starts with what an earlier run kept, if that can be believed; kept may be nil.
func NewReader(cluster notice.Cluster, kept []byte) *Reader {
	r := &Reader{cluster: cluster}
	var data map[string]string
	if json.Unmarshal(kept, &data) == nil {
		r.Take(data)
	}
	r.judged, r.fault = nil, nil
	return r
}

// Take looks at the object's data. It says whether the list is another one now, and why the data cannot be believed: then the list stays as it
// was, as it does when there is no object and nothing to take.
func (r *Reader) Take(data map[string]string) (changed bool, err error) {
	if r.judged != nil && maps.Equal(data, r.judged) {
		return false, r.fault
	}
	list, err := notice.ReadCandidates(data, r.cluster)
	r.judged = maps.Clone(data)
	if err != nil {
		r.fault = fmt.Errorf("read ingress candidates: %w", err)
		return false, r.fault
	}
	changed = r.data == nil || !maps.Equal(r.data, data)
	r.data, r.list, r.fault = r.judged, list, nil
	return changed, nil
}

// Known is the list; ok is false until one was read.
func (r *Reader) Known() (list []notice.Candidate, ok bool) { return r.list, r.data != nil }

// Keep is what NewReader takes up after a restart.
func (r *Reader) Keep() []byte {
	text, err := json.Marshal(r.data)
	if err != nil { // texts alone: all of them can be written
		return nil
	}
	return append(text, '\n')
}
