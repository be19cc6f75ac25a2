package candidates

import (
	"slices"
	"strings"
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

// TestReader is K-23: of the lists of all control plane nodes the newest that can be believed
// counts, and no other text replaces it. A list that is older than the one that is known counts
// only after a while: that one's Node is gone, and a newer list is on its way.
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
		fault bool
		want  []string
	}{
		{0, texts{}, false, nil},
		{0, texts{"m0": "{"}, true, nil},
		{0, texts{"m0": published(901, first)}, false, []string{"worker-0"}},
		{0, texts{"m0": published(901, first), "m1": published(902, first, second)}, false, []string{"worker-0", "worker-1"}},
		{0, texts{"m0": published(902, first), "m1": published(902, first, second)}, false, []string{"worker-0"}},
		{0, texts{"m0": "[", "m1": published(902, first, second)}, true, []string{"worker-0", "worker-1"}},
		{0, texts{"m0": published(903, far), "m1": published(902, first, second)}, true, []string{"worker-0", "worker-1"}},
		{0, texts{}, false, []string{"worker-0", "worker-1"}},
		{0, texts{"m1": published(909)}, false, []string{}},
		{0, texts{"m1": published(909, first)}, false, []string{"worker-0"}},
		{0, texts{"m0": published(903, second)}, false, []string{"worker-0"}},
		{backwards - 1, texts{"m0": published(903, second)}, false, []string{"worker-0"}},
		{1, texts{"m0": published(903, second)}, false, []string{"worker-1"}},
	} {
		at = at.Add(step.after)
		err := r.Take(step.texts, Former{}, at)
		list, ok := r.Known()
		if (err != nil) != step.fault || ok != (step.want != nil) || !slices.Equal(names(list), slices.Concat([]string{}, step.want)) {
			t.Errorf("step %d: %v, known %v %v, want %+v", i, err, names(list), ok, step)
		}
	}
}

func former(list ...notice.Candidate) Former {
	return Former{Data: notice.EncodeCandidates(list), Exists: true, Known: true}
}

// TestReader_Former holds that the former release's object counts until a control plane node has a
// list on its own Node, and not while that is kept, and that of it too only what can be believed is
// taken.
func TestReader_Former(t *testing.T) {
	r, at := NewReader(Cluster(dual())), time.Unix(1000, 0)
	garbled := Former{Data: map[string]string{"candidates": "["}, Exists: true, Known: true}
	for i, step := range []struct {
		former Former
		fault  bool
		want   []string
	}{
		{Former{Exists: true, Known: true}, true, nil},
		{former(first), false, []string{"worker-0"}},
		{former(first), false, []string{"worker-0"}},
		{garbled, true, []string{"worker-0"}},
		{garbled, true, []string{"worker-0"}},
		{former(far), true, []string{"worker-0"}},
		{former(notice.Candidate{Name: "evil", Addresses: addrs("192.0.2.6")}), true, []string{"worker-0"}},
		{former(first, second), false, []string{"worker-0", "worker-1"}},
	} {
		err := r.Take(map[string]string{}, step.former, at)
		list, ok := r.Known()
		if (err != nil) != step.fault || ok != (step.want != nil) || !slices.Equal(names(list), slices.Concat([]string{}, step.want)) {
			t.Errorf("step %d: %v, known %v %v, want %+v", i, err, names(list), ok, step)
		}
	}
	if err := r.Take(map[string]string{"m0": published(1000, first)}, former(), at); err != nil {
		t.Fatal(err)
	}
	if list, _ := r.Known(); len(list) != 1 {
		t.Errorf("an empty former list is believed beside a control plane node's: %v", list)
	}
}

// TestReader_Rollback holds that a list that no control plane node renews gives way to the former
// release's object, as after a rollback of the control plane, and comes back when it is renewed;
// and that the API's gapCounts does not count against it.
func TestReader_Rollback(t *testing.T) {
	const start = 1_000_000
	left := map[string]string{"m0": published(start, first)}
	for _, tt := range []struct {
		name   string
		age    time.Duration // of the list, when the reader starts
		former Former
		steps  []time.Duration
		want   []string
	}{
		{"it is kept", 0, former(second), []time.Duration{kept - 1}, []string{"worker-0"}},
		{"it is not renewed", 0, former(second), []time.Duration{gapCounts, kept - gapCounts}, []string{"worker-1"}},
		{"it was not before this reader started", kept, former(second), nil, []string{"worker-1"}},
		{"and the other one has not been read yet", kept, Former{}, nil, []string{}},
		{"and there is no other one", kept, Former{Known: true}, nil, []string{"worker-0"}},
		{"nor is the other one readable", kept, Former{Exists: true, Known: true}, nil, []string{}},
		{"its writer's clock is ahead", -ahead, former(second), nil, []string{"worker-0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, at := NewReader(Cluster(dual())), time.Unix(start, 0).Add(tt.age)
			_ = r.Take(left, tt.former, at)
			for _, step := range tt.steps {
				for end := at.Add(step); at.Before(end); {
					at = at.Add(min(gapCounts, end.Sub(at)))
					_ = r.Take(left, tt.former, at)
				}
			}
			if list, _ := r.Known(); !slices.Equal(names(list), tt.want) {
				t.Errorf("known %v, want %v", names(list), tt.want)
			}
			renewed := map[string]string{"m0": published(uint64(at.Unix())+1, first)}
			if err := r.Take(renewed, former(second), at); err != nil {
				t.Fatal(err)
			}
			at = at.Add(time.Hour)
			_ = r.Take(renewed, former(second), at)
			if list, _ := r.Known(); !slices.Equal(names(list), []string{"worker-0"}) {
				t.Errorf("known %v an hour of gapCounts after it was renewed, want it", names(list))
			}
		})
	}
}

// TestNewest_Ahead holds that a list with a number that the next one could not exceed is refused,
// and named, and that the next one replaces it.
func TestNewest_Ahead(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for _, serial := range []uint64{1<<53 - 1, 1_000_000 + uint64(ahead/time.Second) + 1} {
		texts := map[string]string{"m0": published(serial), "m1": published(1_000_000, first)}
		newest, ok, err := Newest(texts, Cluster(dual()), now)
		if !ok || len(newest.Candidates) != 1 || err == nil || !strings.Contains(err.Error(), "Node m0") {
			t.Errorf("%d: %v %t, %v, want the other list, and a fault of Node m0", serial, newest, ok, err)
		}
	}
}
