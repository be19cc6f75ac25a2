package peer

import (
	"fmt"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// TestPast holds for how long what a node had counts: for a moment when its object has lost it, and
// not at all when the object is gone.
func TestPast(t *testing.T) {
	n := func(name, internal, annotated string) addr.Candidate {
		return addr.Candidate{Name: name, InternalIPs: ips(internal), Annotated: ips(annotated)}
	}
	type step struct {
		after time.Duration
		now   []addr.Candidate
		want  int // states of node a
	}
	for name, steps := range map[string][]step{
		"stays":                      {{0, []addr.Candidate{n("a", "192.0.2.11", "")}, 0}, {time.Second, []addr.Candidate{n("a", "192.0.2.11", "")}, 0}},
		"gains":                      {{0, []addr.Candidate{n("a", "192.0.2.11", "")}, 0}, {time.Second, []addr.Candidate{n("a", "192.0.2.11 2001:db8::11", "")}, 0}},
		"loses":                      {{0, []addr.Candidate{n("a", "192.0.2.11", "")}, 0}, {time.Second, []addr.Candidate{n("a", "", "")}, 1}, {Lapse - time.Second, []addr.Candidate{n("a", "", "")}, 1}, {time.Second, []addr.Candidate{n("a", "", "")}, 0}},
		"loses what is annotated":    {{0, []addr.Candidate{n("a", "", "192.0.2.11")}, 0}, {time.Second, []addr.Candidate{n("a", "", "")}, 1}, {Lapse, []addr.Candidate{n("a", "", "")}, 0}},
		"loses, gains and loses":     {{0, []addr.Candidate{n("a", "192.0.2.11", "")}, 0}, {time.Second, []addr.Candidate{n("a", "", "")}, 1}, {6 * time.Second, []addr.Candidate{n("a", "192.0.2.11", "")}, 1}, {time.Second, []addr.Candidate{n("a", "", "")}, 2}, {6 * time.Second, []addr.Candidate{n("a", "", "")}, 1}},
		"is deleted":                 {{0, []addr.Candidate{n("a", "192.0.2.11", ""), n("b", "192.0.2.12", "")}, 0}, {time.Second, []addr.Candidate{n("b", "192.0.2.12", "")}, 0}},
		"loses and is deleted":       {{0, []addr.Candidate{n("a", "192.0.2.11", "")}, 0}, {time.Second, []addr.Candidate{n("a", "", "")}, 1}, {time.Second, []addr.Candidate{n("b", "192.0.2.12", "")}, 0}, {time.Second, []addr.Candidate{n("a", "", "")}, 0}},
		"is listed in another place": {{0, []addr.Candidate{n("a", "192.0.2.11", ""), n("b", "192.0.2.12", "")}, 0}, {time.Second, []addr.Candidate{n("b", "192.0.2.12", ""), n("a", "192.0.2.11", "")}, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			var p History
			var before []addr.Candidate
			at := time.Unix(1000, 0)
			for i, s := range steps {
				at = at.Add(s.after)
				p.Note(before, s.now, at)
				if before = s.now; len(p.Of("a")) != s.want {
					t.Errorf("step %d: %v, want %d states", i, p.Of("a"), s.want)
				}
			}
		})
	}
}

// TestPast_Bounded has a kubelet change its node's addresses without end: the former states stay
// few.
func TestPast_Bounded(t *testing.T) {
	var p History
	at := time.Unix(1000, 0)
	before := []addr.Candidate{{Name: "a"}}
	for i := range 1000 {
		now := []addr.Candidate{{Name: "a", Annotated: ips(fmt.Sprintf("10.0.%d.%d", i/250, 1+i%250))}}
		p.Note(before, now, at.Add(time.Duration(i)*time.Millisecond))
		before = now
	}
	if n := len(p.Of("a")); n > mostFormer {
		t.Errorf("%d former states of one node, want %d at most", n, mostFormer)
	}
}

// TestDeleted holds that a deleted node is a peer for a moment more, and that one which is back is
// no deleted one.
func TestDeleted(t *testing.T) {
	n := func(name, internal string) addr.Candidate {
		return addr.Candidate{Name: name, InternalIPs: ips(internal)}
	}
	a, b := n("a", "192.0.2.11"), n("b", "192.0.2.12")
	both, alone := []addr.Candidate{a, b}, []addr.Candidate{b}
	at := time.Unix(1000, 0)
	var p History
	p.Note(nil, both, at)
	p.Note(both, alone, at)
	if all := p.Deleted(); len(all) != 1 || !all[0].Equal(a) {
		t.Errorf("deleted: %v", all)
	}
	p.Note(alone, alone, at.Add(Gone-1))
	if all := p.Deleted(); len(all) != 1 {
		t.Errorf("a moment later: %v", all)
	}
	p.Note(alone, alone, at.Add(Gone))
	if all := p.Deleted(); len(all) != 0 {
		t.Errorf("after that: %v", all)
	}
	p.Note(both, alone, at)
	p.Note(alone, both, at.Add(time.Millisecond))
	if all := p.Deleted(); len(all) != 0 {
		t.Errorf("back again: %v", all)
	}
}
