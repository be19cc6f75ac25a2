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
	r := NewReader(Cluster(dual()), nil)
	if list, ok := r.Known(); ok || len(list) > 0 {
		t.Errorf("Known() = %v before anything was read", list)
	}
	for i, step := range []struct {
		data    map[string]string
		changed bool
		fault   bool
		want    []string
	}{
		{nil, false, true, nil},
		{data(first), true, false, []string{"worker-0"}},
		{data(first), false, false, []string{"worker-0"}},
		{nil, false, true, []string{"worker-0"}},
		{map[string]string{"candidates": "["}, false, true, []string{"worker-0"}},
		{map[string]string{"candidates": "["}, false, true, []string{"worker-0"}},
		{data(notice.Candidate{Name: "evil", Addresses: addrs("198.51.100.1")}), false, true, []string{"worker-0"}},
		{data(notice.Candidate{Name: "evil", Addresses: addrs("192.0.2.6")}), false, true, []string{"worker-0"}},
		{data(first), false, false, []string{"worker-0"}},
		{data(first, second), true, false, []string{"worker-0", "worker-1"}},
		{data(), true, false, []string{}},
	} {
		changed, err := r.Take(step.data)
		list, ok := r.Known()
		if changed != step.changed || (err != nil) != step.fault || ok != (step.want != nil) || !slices.Equal(names(list), slices.Concat([]string{}, step.want)) {
			t.Errorf("step %d: changed %v (%v), known %v %v, want %+v", i, changed, err, names(list), ok, step)
		}
	}
}

func TestReaderKeeps(t *testing.T) {
	r := NewReader(Cluster(dual()), nil)
	if _, err := r.Take(notice.EncodeCandidates([]notice.Candidate{{Name: "worker-0", Addresses: addrs("192.0.2.10")}})); err != nil {
		t.Fatal(err)
	}
	kept := r.Keep()
	again := NewReader(Cluster(dual()), kept)
	if list, ok := again.Known(); !ok || !slices.Equal(names(list), []string{"worker-0"}) {
		t.Errorf("after a restart: %v %v", list, ok)
	}
	if changed, err := again.Take(notice.EncodeCandidates([]notice.Candidate{{Name: "worker-0", Addresses: addrs("192.0.2.10")}})); changed || err != nil {
		t.Errorf("the same list after a restart: changed %v, %v", changed, err)
	}
	for _, bad := range []string{"", "{", `{"candidates":"["}`, `{"candidates":"[{\"name\":\"worker-0\",\"addresses\":[\"198.51.100.1\"]}]"}`, string(kept[:len(kept)/2]), "null"} {
		if list, ok := NewReader(Cluster(dual()), []byte(bad)).Known(); ok || len(list) > 0 {
			t.Errorf("kept %q gives %v, want nothing", bad, list)
		}
	}
	if fresh := NewReader(Cluster(dual()), NewReader(Cluster(dual()), nil).Keep()); fresh.data != nil {
		t.Error("nothing kept gives something")
	}
}
