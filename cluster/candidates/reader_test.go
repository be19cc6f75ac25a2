package candidates

import (
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
)

var (
	first  = notice.Candidate{Name: "worker-0", Addresses: addrs("192.0.2.10")}
	second = notice.Candidate{Name: "worker-1", Addresses: addrs("192.0.2.11")}
	far    = notice.Candidate{Name: "evil", Addresses: addrs("198.51.100.1")}
)

func published(serial uint64, list ...notice.Candidate) string {
	return notice.EncodePublished(notice.Published{Serial: serial, Candidates: list})
}

// TestReader is K-23: of the lists of all control plane nodes the newest that can be believed counts, and no other text replaces it. A
// list that is older than the one that is known counts only after a while: that one's Node is gone, and a newer list is on its way.
func TestReader(t *testing.T) {
	type texts map[string]string
	r := NewReader(Cluster(dual()))
	if list, ok := r.Known(); ok || len(list) > 0 {
		t.Errorf("Known() = %v before anything was read", list)
	}
	at := time.Unix(1000, 0)
	for i, step := range []struct {
		after time.Duration
		texts texts
		says  bool
		fault bool
		want  []string
	}{
		{0, texts{}, false, false, nil},
		{0, texts{"m0": "{"}, false, true, nil},
		{0, texts{"m0": published(1, first)}, true, false, []string{"worker-0"}},
		{0, texts{"m0": published(1, first), "m1": published(2, first, second)}, true, false, []string{"worker-0", "worker-1"}},
		{0, texts{"m0": published(2, first), "m1": published(2, first, second)}, true, false, []string{"worker-0"}},
		{0, texts{"m0": "[", "m1": published(2, first, second)}, true, true, []string{"worker-0", "worker-1"}},
		{0, texts{"m0": published(3, far), "m1": published(2, first, second)}, true, true, []string{"worker-0", "worker-1"}},
		{0, texts{}, false, false, []string{"worker-0", "worker-1"}},
		{0, texts{"m1": published(9)}, true, false, []string{}},
		{0, texts{"m1": published(9, first)}, true, false, []string{"worker-0"}},
		{0, texts{"m0": published(3, second)}, true, false, []string{"worker-0"}},
		{backwards - 1, texts{"m0": published(3, second)}, true, false, []string{"worker-0"}},
		{1, texts{"m0": published(3, second)}, true, false, []string{"worker-1"}},
	} {
		at = at.Add(step.after)
		says, err := r.Take(step.texts, at)
		list, ok := r.Known()
		if says != step.says || (err != nil) != step.fault || ok != (step.want != nil) || !slices.Equal(names(list), slices.Concat([]string{}, step.want)) {
			t.Errorf("step %d: says %t, %v, known %v %v, want %+v", i, says, err, names(list), ok, step)
		}
	}
}

// TestReader_Former holds that the former release's object counts until a control plane node has a list on its own Node, and never again
// after that, and that of it too only what can be believed is taken.
func TestReader_Former(t *testing.T) {
	data := func(list ...notice.Candidate) map[string]string { return notice.EncodeCandidates(list) }
	r := NewReader(Cluster(dual()))
	for i, step := range []struct {
		data  map[string]string
		fault bool
		want  []string
	}{
		{nil, true, nil},
		{data(first), false, []string{"worker-0"}},
		{data(first), false, []string{"worker-0"}},
		{map[string]string{"candidates": "["}, true, []string{"worker-0"}},
		{map[string]string{"candidates": "["}, true, []string{"worker-0"}},
		{data(far), true, []string{"worker-0"}},
		{data(notice.Candidate{Name: "evil", Addresses: addrs("192.0.2.6")}), true, []string{"worker-0"}},
		{data(first, second), false, []string{"worker-0", "worker-1"}},
	} {
		err := r.TakeFormer(step.data)
		list, ok := r.Known()
		if (err != nil) != step.fault || ok != (step.want != nil) || !slices.Equal(names(list), slices.Concat([]string{}, step.want)) {
			t.Errorf("step %d: %v, known %v %v, want %+v", i, err, names(list), ok, step)
		}
	}
	if _, err := r.Take(map[string]string{"m0": published(1, first)}, time.Unix(1000, 0)); err != nil {
		t.Fatal(err)
	}
	if err := r.TakeFormer(data()); err != nil {
		t.Fatal(err)
	}
	if list, _ := r.Known(); len(list) != 1 {
		t.Errorf("an empty former list is believed beside a control plane node's: %v", list)
	}
}
