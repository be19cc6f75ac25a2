package vip

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// founding is a FAKE: it reports what it is told.
type founding struct{ first, over bool }

func (f *founding) First() bool { return f.first }
func (f *founding) End()        { f.over = true }

// founders is the first node of a cluster without a bootstrap machine, which the API has not named
// yet.
func founders(t *testing.T, r role.Role) (*world, *founding) {
	t.Helper()
	c := cluster()
	c.Distribution = spec.Kubernetes
	w := newWorld(t, c, r)
	w.nodes, w.served = Answer[[]member.Node]{}, false
	f := &founding{}
	w.founding = f
	w.restart(r, nodestate.Memory{})
	return w, f
}

// TestFirst holds what the first node of a cluster does: it holds the API's VIP alone, and nothing
// else, until the API names it; then it goes on without a change of that VIP's instance, and never
// again as the first one.
func TestFirst(t *testing.T) {
	w, f := founders(t, role.Master)
	if d := w.reconcile(); !d.Unchanged {
		t.Fatalf("before it is known that it is the first one: %+v", d.Config)
	}
	f.first = true
	d := w.reconcile()
	if len(d.Config.Instances) != 2 || !w.memory.Open {
		t.Fatalf("%d instances, its gate is open: %v", len(d.Config.Instances), w.memory.Open)
	}
	alone := instance(t, d, "192.0.2.5")
	if !slices.Equal(alone.Peers, []netip.Addr{keepalived.Group(alone.VIP)}) || alone.Source != ip("192.0.2.11") {
		t.Errorf("it speaks to %v as %v", alone.Peers, alone.Source)
	}
	for _, named := range [][]member.Node{nil, {}, nodes(0, 2)} { // no list, an empty one, and kubelets whose nodes nobody has called control plane yet
		w.nodes = answered(named)
		if again := instance(t, w.reconcile(), "192.0.2.5"); !slices.Equal(again.Peers, alone.Peers) {
			t.Errorf("with %d nodes named it speaks to %v", len(named), again.Peers)
		}
	}
	w.nodes = answered(nodes(1, 0))
	if again := instance(t, w.reconcile(), "192.0.2.5"); !slices.Equal(again.Peers, alone.Peers) || again.Priority != alone.Priority {
		t.Errorf("named, it speaks to %v at %d, want %v at %d", again.Peers, again.Priority, alone.Peers, alone.Priority)
	}
	w.nodes = answered(nodes(2, 0))
	if joined := instance(t, w.reconcile(), "192.0.2.5"); !slices.Equal(joined.Peers, ips("192.0.2.12")) {
		t.Errorf("with a second node it speaks to %v", joined.Peers)
	}
	if !f.over {
		t.Error("it goes on to look whether it is the first one")
	}
	w.again(role.Master)
	w.nodes = Answer[[]member.Node]{}
	if again := instance(t, w.reconcile(), "192.0.2.5"); !slices.Equal(again.Peers, ips("192.0.2.12")) {
		t.Errorf("after a restart it speaks to %v", again.Peers)
	}
}

// TestFirstAfterRestart holds that a first node which starts anew before the API has named it
// leaves what runs as it is: somebody else may have the VIP.
func TestFirstAfterRestart(t *testing.T) {
	w, f := founders(t, role.Master)
	f.first = true
	w.reconcile()
	w.founding = &founding{}
	w.again(role.Master)
	w.status = supervised.Status{PID: 7, Instances: map[string]supervised.Instance{"ostest_API_0": {State: supervised.Master}}}
	if d := w.reconcile(); !d.Unchanged {
		t.Errorf("it has become %+v", d.Config)
	}
}
