package plan

import (
	"bytes"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan/pace"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestProven holds that a plan whose timing needs a proof has the worst host of it, and the plan to
// which the nodes change if hosts are later; and that no other plan has any of that.
func TestProven(t *testing.T) {
	c := migrant("fast", "", spec.Former{})
	c.TimingProof = map[string]uint32{"a": 900, "b": 2100, "c": 1000}
	p := mustCompile(t, c)
	if got := p.Timing.Proven; got == nil || *got != (pace.Proven{Host: "b", LateUs: 2100, MostUs: 25878, BearsUs: 103515}) {
		t.Errorf("the proof is %+v", got)
	}
	if !p.Timing.Proves("a.example.com") || p.Timing.Proves("worker-0") {
		t.Error("a is proven, and worker-0 is not")
	}
	c.Timing = "lan"
	lan := mustCompile(t, c)
	if p.Fallback == nil || !bytes.Equal(Encode(*p.Fallback), Encode(lan)) || p.Fallback.Fallback != nil {
		t.Errorf("falls back to %+v", p.Fallback)
	}
	if lan.Fallback != nil || lan.Timing.Proven != nil {
		t.Errorf("lan has a proof %+v, and falls back to %+v", lan.Timing.Proven, lan.Fallback)
	}
	if !lan.Timing.Proves("worker-0") {
		t.Error("lan needs no proof")
	}
	from := migrant("fast", "", spec.Former{Timing: "lan"})
	from.TimingProof = c.TimingProof
	if p := mustCompile(t, from); p.Former == nil || p.Former.Fallback != nil || p.Fallback == nil {
		t.Errorf("a migration to it comes from %+v", p.Former)
	}
}
