package cluster

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/provisioned"
)

// nodes is a cluster whose nodes work, before any of its programs has started; the bootstrap
// machine has the address in the phase that is given.
func nodes(t *testing.T, sharing string, phase progress.Phase) (*world.World, *Cluster) {
	t.Helper()
	of, err := schedule.Of(provisioned.Plan(t, sharing))
	if err != nil {
		t.Fatal(err)
	}
	w := world.New(of, schedule.Schedule{Seed: 1})
	w.Boot.On, w.Boot.Phase, w.Boot.Held = true, phase, phase != progress.Ended
	w.Boot.Left = !w.Boot.Held
	w.Pod.Paused = w.Pod.Paused && w.Boot.Held // until the bootstrap machine has ended
	c := New(w)
	for _, h := range w.Hosts[:w.Nodes] {
		h.On, h.Up, h.Joined = true, true, 0
		c.Started(h)
	}
	return w, c
}

// until has the events of the nodes' programs happen, and looks at each instant.
func until(w *world.World, c *Cluster, end time.Duration, judge func()) {
	for !w.Queue.Empty() {
		e := w.Queue.Pop()
		if e.At > end {
			w.At(e.At, e)
			break
		}
		w.Now = e.At
		handle(w, c, e)
		judge()
	}
	w.Now = end
}

func handle(w *world.World, c *Cluster, e world.Event) {
	h := w.Hosts[max(e.Host, 0)]
	seat := map[world.EventKind]func(*world.Host){world.EvSeat: c.Seat, world.EvAsk: c.Ask, world.EvProbe: c.Probe, world.EvServer: c.Round}
	router := map[world.EventKind]func(*world.Host){world.EvTake: c.Take, world.EvYield: c.Yield}
	pod := map[world.EventKind]func(){world.EvPod: c.Pod, world.EvMissed: c.Missed}
	switch {
	case seat[e.Kind] != nil:
		if e.Gen == h.Seat.Lost && h.On {
			seat[e.Kind](h)
		}
	case router[e.Kind] != nil:
		if e.Gen == h.Seat.Gen {
			router[e.Kind](h)
		}
	case pod[e.Kind] != nil && e.Gen == w.Pod.Gen:
		pod[e.Kind]()
	case e.Kind == world.EvMetal3:
		c.Metal3()
	}
}

// serving are the nodes whose DHCP server answers hosts, by their indices.
func serving(w *world.World) (all []int) {
	for _, h := range w.Hosts[:w.Nodes] {
		if h.Seat.Server != nil && w.Serves(h.Seat.Server) {
			all = append(all, h.Index)
		}
	}
	return all
}

// follows holds at an instant that at most one node has the address, which answers hosts alone.
func follows(t *testing.T, w *world.World) func() {
	return func() {
		holders := w.Holders(w.Plan.Provisioning.IP)
		if len(holders) > 1 {
			t.Fatalf("at %v %v have the address", w.Now, holders)
		}
		for _, i := range serving(w) {
			if len(holders) != 1 || int(holders[0]) != i {
				t.Fatalf("at %v node %d answers hosts, and %v have the address", w.Now, i, holders)
			}
		}
	}
}

// TestCluster holds that address and answers follow Ironic's pod, also to another node.
func TestCluster(t *testing.T) {
	for sharing := range provisioned.Sharings() {
		w, c := nodes(t, sharing, progress.Ended)
		judge := follows(t, w)
		if sharing == "two" { // a pod that ends has its address a moment longer than the next one waits
			judge = func() {}
		}
		at := func(what string, end time.Duration) int {
			t.Helper()
			until(w, c, w.Now+end, judge)
			got := serving(w)
			if len(got) != 1 || got[0] != w.Pod.Node || !w.Pod.Runs {
				t.Fatalf("%s, %s: %v answer hosts, and the pod is on %d, running %t", sharing, what, got, w.Pod.Node, w.Pod.Runs)
			}
			return got[0]
		}
		first := at("the begin", 10*time.Minute)
		c.Move()
		if w.Pod.Runs || w.Hosts[first].Seat.Ironic {
			t.Errorf("%s: the pod is to move, and Ironic answers on %d", sharing, first)
		}
		if second := at("another node", 5*time.Minute); second == first {
			t.Errorf("%s: the pod is to move, and stays on %d", sharing, first)
		}
		lost := w.Hosts[w.Pod.Node]
		lost.On, lost.Up = false, false
		lost.Seat.Lost++
		lost.Seat.Programs, lost.Seat.Ironic, lost.Seat.Master, lost.Seat.Address = false, false, false, false
		c.Changed(lost)
		if third := at("a node without power", 20*time.Minute); third == lost.Index {
			t.Errorf("%s: the pod is on a node without power", sharing)
		}
	}
}

// TestCluster_Bootstrap holds that no node has the address, and that the cluster's Ironic does not
// begin, while the bootstrap machine installs the control plane.
func TestCluster_Bootstrap(t *testing.T) {
	w, c := nodes(t, "one", progress.Deploy)
	until(w, c, 10*time.Minute, func() {
		for _, h := range w.Hosts[:w.Nodes] {
			if h.Seat.Instance || h.Seat.Address || w.Pod.Begun {
				t.Fatalf("at %v %s has %+v, and a pod has begun: %t", w.Now, h.Plan.Name, h.Seat, w.Pod.Begun)
			}
		}
	})
	for _, h := range w.Hosts[:w.Nodes] {
		if !h.Seat.Programs || !h.Seat.Found.Known || h.Seat.Found.Other != w.Card(world.BootSite).String() {
			t.Errorf("%s has not found the bootstrap machine: %+v", h.Plan.Name, h.Seat)
		}
	}
	w.Boot.Phase, w.Boot.Held, w.Boot.Left = progress.Ended, false, true
	c.Phase()
	until(w, c, w.Now+15*time.Minute, follows(t, w))
	if len(serving(w)) != 1 {
		t.Errorf("%v answer hosts after the end of the bootstrap machine", serving(w))
	}
}

// TestKillDHCP holds that a node's answers end by themselves with its program, and come back.
func TestKillDHCP(t *testing.T) {
	w, c := nodes(t, "one", progress.Ended)
	until(w, c, 10*time.Minute, follows(t, w))
	h := w.Hosts[w.Pod.Node]
	c.KillDHCP(h)
	until(w, c, w.Now+time.Minute, follows(t, w))
	if len(serving(w)) > 0 || !h.Seat.Address {
		t.Errorf("%v answer hosts without the program; the address is there: %t", serving(w), h.Seat.Address)
	}
	c.StartDHCP(h)
	until(w, c, w.Now+time.Minute, follows(t, w))
	if got := serving(w); len(got) != 1 || got[0] != h.Index {
		t.Errorf("%v answer hosts with the program", got)
	}
}

// TestStop holds that Ironic ends by a person's command and begins again by another, and that its pod on a
// node that Kubernetes does not reach runs on until that node is back.
func TestStop(t *testing.T) {
	for sharing := range provisioned.Sharings() {
		w, c := nodes(t, sharing, progress.Ended)
		until(w, c, 10*time.Minute, func() {})
		if f := w.Fleet(); f.Pods != 1 || !f.Ironic || len(f.MayRun) > 0 {
			t.Errorf("%s: before, %+v", sharing, f)
		}
		c.Stop()
		if f := w.Fleet(); f.Pods != 0 || f.Ironic || len(f.MayRun) != 1 || f.Operator.Paused == w.Shared() {
			t.Errorf("%s: it is to end, %+v", sharing, f)
		}
		until(w, c, w.Now+10*time.Minute, func() {})
		if f := w.Fleet(); f.Pods != 0 || len(f.MayRun) > 0 || len(serving(w)) > 0 {
			t.Errorf("%s: it has ended, %+v, and %v answer", sharing, f, serving(w))
		}
		c.Restart()
		until(w, c, w.Now+5*time.Minute, func() {})
		got := serving(w)
		if f := w.Fleet(); f.Pods != 1 || !f.Ironic || len(got) != 1 {
			t.Fatalf("%s: it is on again, %+v, and %v answer", sharing, f, got)
		}
		h := w.Hosts[got[0]]
		h.Links.Machine++
		c.Changed(h)
		c.Stop()
		until(w, c, w.Now+10*time.Minute, func() {})
		if f := w.Fleet(); f.Pods != 0 || len(f.MayRun) != 1 || f.MayRun[0].Node != h.Plan.Name || len(serving(w)) != 1 {
			t.Errorf("%s: its node is not reached, %+v, and %v answer", sharing, f, serving(w))
		}
		h.Links.Machine--
		c.Changed(h)
		until(w, c, w.Now+time.Minute, func() {})
		if f := w.Fleet(); len(f.MayRun) > 0 || len(serving(w)) > 0 {
			t.Errorf("%s: its node is back, %+v, and %v answer", sharing, f, serving(w))
		}
	}
}
