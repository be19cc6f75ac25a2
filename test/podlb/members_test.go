package podlb

import (
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
)

// TestMembers holds H-05, H-06 and H-22: members come and go without a reload, and without a client
// noticing.
func TestMembers(t *testing.T) {
	w := open(t)
	w.register("m1", "192.0.2.10")
	w.up(1)
	w.within("the VIP is balanced", 5*time.Second, func() bool { return ask(w.http(w.client, time.Second), "https://"+vip+":6443/who").from != "" })
	w.within("the worker of the configuration without members is gone", 15*time.Second, func() bool { return len(w.workers()) == 1 })
	workers := w.workers()
	begun := time.Now()
	l := w.load(w.client, "https://"+vip+":6443/who", 2*time.Second)
	time.Sleep(300 * time.Millisecond)
	for _, step := range []struct {
		name, address string
		up            int
	}{{"m2", "192.0.2.11", 2}, {"m3", "192.0.2.12", 3}} {
		at := time.Now()
		w.register(step.name, step.address)
		w.up(step.up)
		w.within(step.name+" answers", 10*time.Second, func() bool { return by(l.since(at))[step.name] > 0 })
		t.Logf("%s answers %v after it was registered", step.name, time.Since(at).Round(time.Millisecond))
	}
	// Nobody is there: it must not count as up for a moment, as HAProxy would have it until its
	// first check.
	w.register("ghost", "192.0.2.77")
	seen := false
	for asked := time.Now(); time.Since(asked) < 2*time.Second; time.Sleep(2 * time.Millisecond) {
		for _, s := range w.stats() {
			if s.Backend == haproxy.Masters && s.Address.String() == "192.0.2.77:6443" {
				seen = true
				if s.Up() {
					t.Fatal("a member that has passed no check is up")
				}
			}
		}
	}
	if !seen {
		t.Error("the member without a server is none")
	}
	w.unregister("ghost")
	at := time.Now()
	w.unregister("m2")
	w.up(2)
	t.Logf("a member is gone %v after it was deleted", time.Since(at).Round(time.Millisecond))
	gone := time.Now()
	time.Sleep(500 * time.Millisecond)
	if n := by(l.since(gone))["m2"]; n > 0 {
		t.Errorf("%d requests went to a member that is none", n)
	}
	l.stop()
	none(t, "members come and go", begun, l.since(begun))
	if now := w.workers(); !slices.Equal(now, workers) {
		t.Errorf("HAProxy was reloaded: workers %v, before %v", now, workers)
	}
}
