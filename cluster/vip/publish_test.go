package vip

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// TestPublish_Unobserved holds that a round in which nothing could be observed leaves what was
// reported before: status goes on to say why there is no instance, and a claim of a rank that is
// not written yet is not withdrawn.
func TestPublish_Unobserved(t *testing.T) {
	w := newWorld(t, lan(), role.Master)
	w.nodes.Is, w.served = aged("", "0", "1"), false
	w.reconcile()
	why := func() string { return absent.Why(w.room.Absent(), "ostest_API_0") }
	if why() == "" || w.pending == (member.Claim{}) {
		t.Fatalf("absent because of %q, claims %+v, want both", why(), w.pending)
	}
	before, claim := why(), w.pending
	w.broken = errBroken
	if _, err := w.room.Observe(t.Context()); err == nil {
		t.Fatal("broken links are no fault")
	}
	if err := w.room.Publish(t.Context(), Desired{}); err != nil {
		t.Fatal(err)
	}
	if got := why(); got != before {
		t.Errorf("after a round without links it is absent because of %q, want %q", got, before)
	}
	if w.pending != claim {
		t.Errorf("after a round without links it claims %+v, want %+v", w.pending, claim)
	}
	w.broken, w.served, w.nodes.Is[0].Rank = nil, true, notice.EncodeRank(claim.Rank)
	w.reconcile()
	if why() != "" || w.pending != (member.Claim{}) {
		t.Errorf("absent because of %q, claims %+v, want neither", why(), w.pending)
	}
}
