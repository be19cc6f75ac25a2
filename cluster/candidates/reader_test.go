package candidates

import (
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// K-23: only a list that can be believed replaces the list that is known.
func TestReader(t *testing.T) {
	data := func(list ...notice.Candidate) map[string]string { return notice.EncodeCandidates(list) }
	first, second := notice.Candidate{Name: "worker-0", Addresses: addrs("192.0.2.10")}, notice.Candidate{Name: "worker-1", Addresses: addrs("192.0.2.11")}
	r := NewReader(Cluster(dual()))
	if list, ok := r.Known(); ok || len(list) > 0 {
		t.Errorf("Known() = %v before anything was read", list)
	}
	for i, step := range []struct {
		data  map[string]string
		fault bool
		want  []string
	}{
		{nil, true, nil},
		{data(first), false, []string{"worker-0"}},
		{data(first), false, []string{"worker-0"}},
		{nil, true, []string{"worker-0"}},
		{map[string]string{"candidates": "["}, true, []string{"worker-0"}},
		{map[string]string{"candidates": "["}, true, []string{"worker-0"}},
		{data(notice.Candidate{Name: "evil", Addresses: addrs("198.51.100.1")}), true, []string{"worker-0"}},
		{data(notice.Candidate{Name: "evil", Addresses: addrs("192.0.2.6")}), true, []string{"worker-0"}},
		{data(first), false, []string{"worker-0"}},
		{data(first, second), false, []string{"worker-0", "worker-1"}},
		{data(), false, []string{}},
	} {
		err := r.Take(step.data)
		list, ok := r.Known()
		if (err != nil) != step.fault || ok != (step.want != nil) || !slices.Equal(names(list), slices.Concat([]string{}, step.want)) {
			t.Errorf("step %d: %v, known %v %v, want %+v", i, err, names(list), ok, step)
		}
	}
}
