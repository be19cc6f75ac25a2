package candidates

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// TestWriter_ItsClockWasAhead holds that a writer whose clock was hours ahead for a moment, as a
// machine's can be that has just started, writes numbers that are believed as soon as it is right.
func TestWriter_ItsClockWasAhead(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	wrong := now.Add(5 * time.Hour)
	w, seen := NewWriter(dual(), "master-0"), cluster()
	seen.Nodes = slices.Clone(seen.Nodes)
	seen.Last = now
	good := notice.Published{Serial: uint64(wrong.Unix()), Candidates: Rank(dual(), masters, nil, nil)}
	seen.Nodes[0].List = notice.EncodePublished(good) // as it has written it itself
	if want, _ := w.Decide(wrong, seen); want.List != "" {
		t.Fatalf("the list is right, and it writes %s", want.List)
	}
	want, _ := w.Decide(now, seen)
	if _, ok, err := Newest(map[string]string{"master-0": want.List}, Cluster(dual()), now); !ok {
		t.Errorf("its clock is right, and it writes %q: %v", want.List, err)
	}
}

// TestReader_ItsClockWasBehind holds that a reader whose clock was hours behind, as a machine's is
// that has just started, believes the lists as soon as it is right.
func TestReader_ItsClockWasBehind(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	r, texts := NewReader(Cluster(dual())), map[string]string{"m0": published(1_000_000, first)}
	if err := r.Take(texts, Former{Known: true}, now.Add(-5*time.Hour)); err == nil {
		t.Error("a list of the future is no fault")
	}
	err := r.Take(texts, Former{Known: true}, now)
	if list, _ := r.Known(); err != nil || len(list) != 1 {
		t.Errorf("its clock is right, and it knows %v: %v", list, err)
	}
}

// TestWriter_Silence holds that the API's gapCounts does not count against the list for a writer
// either: what every kubelet may write does not come into the list of a cluster of more nodes than
// it has room for.
func TestWriter_Silence(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var workers []Node
	for i := range notice.MostCandidates + 10 {
		workers = append(workers, node(fmt.Sprintf("worker-%02d", i), fmt.Sprintf("192.0.2.%d", 100+i)))
	}
	holder := workers[len(workers)-1].Name
	w, seen := NewWriter(dual(), "master-0"), cluster(workers...)
	seen.Former = former(Rank(dual(), seen.Nodes, nil, []notice.Candidate{{Name: holder}})...)
	seen.Last = now
	want, _ := w.Decide(now, seen)
	seen.Nodes = slices.Clone(seen.Nodes)
	seen.Nodes[0].List = want.List
	for end := now.Add(kept + time.Minute); now.Before(end); now = now.Add(rest) {
		_, _ = w.Decide(now, seen) // nothing can be written
	}
	seen.Former, seen.Last = former(first), now
	want, _ = w.Decide(now, seen)
	newest, _, _ := Newest(map[string]string{"master-0": want.List}, Cluster(dual()), now)
	if !slices.Contains(names(newest.Candidates), holder) {
		t.Errorf("the list %v lacks the holder %s", names(newest.Candidates), holder)
	}
}
