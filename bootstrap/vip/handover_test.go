package vip

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

var yielding = release.Verdict{Yield: true, Why: "the local API announces its shutdown and a master is ready"}

// TestHandover hands the VIP over and takes it back: the container runs until the supervisor says that
// it has left, and the cluster knows of this machine until then.
func TestHandover(t *testing.T) {
	asked := func(pid int, leaving supervised.Leaving) supervised.Status {
		s := elect(supervised.Master)
		s.PID, s.Leaving = pid, leaving
		return s
	}
	own := []netip.Addr{ip("192.0.2.10")}
	r, h, d, n := room(t, nil)
	clock := time.Now()
	r.options.Now = func() time.Time { return clock }
	for _, step := range []struct {
		name      string
		verdict   release.Verdict
		status    supervised.Status
		after     time.Duration
		leaves    bool
		stops     int // at this step
		published []netip.Addr
	}{
		{name: "holds", verdict: hold, status: asked(7, ""), published: own},
		{name: "is asked", verdict: yielding, status: asked(7, ""), leaves: true, published: own},
		{name: "waits for another holder", verdict: yielding, status: asked(7, supervised.Asked), leaves: true, published: own, after: 4 * time.Second},
		{name: "has left", verdict: yielding, status: asked(0, supervised.Left), leaves: true, stops: 1},
		{name: "K-35: the API is back", verdict: hold, status: asked(0, supervised.Left), published: own},
		{name: "is asked again, a while later", verdict: yielding, status: asked(7, ""), leaves: true, published: own, after: time.Hour},
		{name: "K-34: the API is gone meanwhile", verdict: release.Verdict{Why: "the local API is gone, the VIP has been released"}, status: asked(7, supervised.Asked), leaves: true, stops: 1},
		{name: "holds once more", verdict: hold, status: asked(7, ""), published: own},
		{name: "is asked, and hangs", verdict: yielding, status: asked(7, ""), leaves: true, published: own},
		{name: "has had its time", verdict: yielding, status: asked(7, ""), leaves: true, stops: 1, after: handoverBound},
		{name: "holds again", verdict: hold, status: asked(0, ""), published: own},
		{name: "nothing runs", verdict: yielding, status: supervised.Status{}, leaves: true, stops: 1},
	} {
		clock = clock.Add(step.after)
		h.verdict, h.status = &step.verdict, step.status
		before := d.stops
		if err := reconcile(t, r); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if published := h.published[len(h.published)-1]; h.leaves != step.leaves || d.stops-before != step.stops || !slices.Equal(published, step.published) {
			t.Errorf("%s: asked to leave %t, %d stops, published %v; want %t, %d, %v", step.name, h.leaves, d.stops-before, published, step.leaves, step.stops, step.published)
		}
	}
	if !slices.Contains(n.status, "hands the API VIP over to a control plane node") {
		t.Errorf("status %q", n.status)
	}
	h.unreachable, h.verdict, h.status = true, &yielding, asked(7, "")
	before := d.stops
	if err := reconcile(t, r); err == nil || d.stops != before+1 {
		t.Errorf("a supervisor that cannot be asked: %d stops, %v", d.stops-before, err)
	}
}
