package life

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/figures"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// stage is a cluster under test: all its nodes up and serving, and the bootstrap machine still
// holds the VIP.
type stage struct {
	*testing.T
	*Life
	*lab.Observer
}

func joined(t *testing.T) *stage {
	t.Helper()
	need.Root(t)
	for _, name := range []string{"debootstrap", "systemd-nspawn", "podman", "runc", "catatonit", "ip", "nsenter", "make", "etcd", "keepalived", "haproxy"} {
		need.Command(t, name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	s := &stage{T: t}
	var err error
	s.Life, err = New(ctx, slog.New(slog.NewTextHandler(t.Output(), nil)))
	s.must(err)
	t.Cleanup(func() {
		if t.Failed() {
			s.explain()
		}
		if err := s.Life.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	s.Observer, err = s.Observe()
	s.must(err)
	t.Cleanup(func() { s.Stop() })
	s.must(s.Boot(ctx))
	s.must(s.Install(ctx))
	s.awaits(time.Minute, "bootstrap")
	for _, n := range s.Nodes {
		s.must(n.Join(ctx, s.API))
	}
	s.must(s.Settled(ctx))
	if holders := s.Holders(); !slices.Equal(holders, []string{"bootstrap"}) {
		t.Fatalf("the VIP is held by %v before the bootstrap machine has given it up", holders)
	}
	return s
}

func (s *stage) explain() {
	s.Helper()
	s.Logf("bootstrap:\n%s", s.Journal(context.Background(), "onprem-install", chain.Unit, "onprem-coredns"))
	for _, n := range s.Nodes {
		for _, c := range n.Containers() {
			s.Logf("%s %s:\n%s", n.Name, c, n.Log(c))
		}
	}
}

// awaits waits until one host alone holds the VIP.
func (s *stage) awaits(within time.Duration, host string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), within)
	defer cancel()
	_, err := s.Wait(ctx, host)
	s.must(err)
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// attend has the clients come, until the test ends.
func (s *stage) attend(patience time.Duration) *Crowd {
	s.Helper()
	c, err := s.Attend(s.Context(), patience)
	s.must(err)
	s.Cleanup(c.Leave)
	return c
}

// orderly holds that a host leaves in order.
func (s *stage) orderly(t *testing.T, c *Crowd, host string, leave func() error) {
	t.Helper()
	m, err := Move(t.Context(), s.Observer, c, host, leave)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(m)
	for _, fault := range m.Faults {
		t.Error(fault)
	}
}

func needLong(t *testing.T) {
	t.Helper()
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("takes minutes: ONPREM_INFRA_LONG=1 asks for it")
	}
}

// TestHandOver is the moment that the project exists for, once, on a machine that may have other
// things to do.
func TestHandOver(t *testing.T) {
	s := joined(t)
	s.orderly(t, s.attend(2*time.Second), "bootstrap", s.EndAPI)
}

// TestLongHandOver is the same moment twenty times. Between two of them the bootstrap machine's API
// server comes back, and with it the VIP.
func TestLongHandOver(t *testing.T) {
	needLong(t)
	s := joined(t)
	c := s.attend(Patience)
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) { s.orderly(t, c, "bootstrap", s.EndAPI) })
		s.must(s.API.Start(t.Context()))
		s.awaits(time.Minute, "bootstrap")
		s.must(s.Settled(t.Context()))
		time.Sleep(2 * time.Second) // watches that the return has cut come back
	}
}

// TestLongServerLost ends API servers behind the balancer: one that is killed fails no request that
// starts after it, one that hangs none that starts later than the plan's bound. Watches end with the
// server that served them, and none hangs.
func TestLongServerLost(t *testing.T) {
	needLong(t)
	s := joined(t)
	c := s.attend(Patience)
	s.orderly(t, c, "bootstrap", s.EndAPI)
	for _, fault := range []struct {
		name, bound string
		do, undo    func(*Node) error
	}{
		{"killed", "", func(n *Node) error { return n.API.Kill() }, func(n *Node) error { return n.API.Start(t.Context()) }},
		{"stopped", "api-hang", func(n *Node) error { return n.API.Signal(syscall.SIGSTOP) },
			func(n *Node) error { return n.API.Signal(syscall.SIGCONT) }},
	} {
		for _, n := range s.Nodes {
			t.Run(fault.name+" on "+n.Name, func(t *testing.T) {
				s.must(s.Settled(t.Context()))
				c.Watches.Forget()
				within := func() time.Duration { return 0 }
				if fault.bound != "" {
					var err error
					within, err = figures.Bounded(s.Plan.Timing.Bounds, fault.bound)
					s.must(err)
				}
				s.must(fault.do(n))
				at := time.Now()
				time.Sleep(time.Second) // the bound then allows for how late this machine ran in it
				grace := within()
				time.Sleep(5 * time.Second) // requests after the bound, each of which must be served
				now := time.Now()
				breaks, silent := c.Watches.Report()
				all := c.Probes.So().Since(at).Until(now.Add(-Patience))
				t.Logf("all that started since: %v; %d watches cut, none silent for more than %v", all, len(breaks), silent)
				if bad := all.Since(at.Add(grace)).Unserved(); len(bad) > 0 {
					t.Errorf("requests that started %v after it or later, the last after %v: %v", grace, bad[len(bad)-1].Start.Sub(at), bad)
				}
				if silent > grace+2*time.Second || c.Watches.Running() != Watchers {
					t.Errorf("%d of %d watches run, one was silent for %v", c.Watches.Running(), Watchers, silent)
				}
				s.must(fault.undo(n))
			})
		}
	}
}

// TestLongSteady counts what the daemons start in a minute in which nothing happens.
func TestLongSteady(t *testing.T) {
	needLong(t)
	s := joined(t)
	c := s.attend(Patience)
	s.orderly(t, c, "bootstrap", s.EndAPI)
	c.Leave()
	s.must(s.Settled(t.Context()))
	holder := s.holder()
	started, err := holder.Started(time.Minute)
	s.must(err)
	if len(started.Programs) > 0 {
		t.Errorf("%d processes were started: %v", len(started.Programs), started.Programs)
	}
	if started.Lost > 0 {
		t.Logf("the kernel dropped reports of processes %d times: more may have been started", started.Lost)
	}
	// The count can count: a keepalived that left is started again.
	s.must(holder.Leave(t.Context()))
	back := time.AfterFunc(time.Second, func() { _ = holder.Return(t.Context()) })
	defer back.Stop()
	if started, err = holder.Started(5 * time.Second); err != nil || len(started.Programs) == 0 {
		t.Errorf("keepalived's start was not seen: %v", err)
	}
}

// TestLongNodes is what happens to nodes later on: the VIP's holder is rebooted in order, as often
// as there are nodes, and then one loses its power.
func TestLongNodes(t *testing.T) {
	needLong(t)
	s := joined(t)
	c := s.attend(Patience)
	s.orderly(t, c, "bootstrap", s.EndAPI)
	for range s.Nodes {
		holder := s.holder()
		t.Run("reboot "+holder.Name, func(t *testing.T) {
			s.orderly(t, c, holder.Name, func() error { return holder.ShutDown(t.Context()) })
		})
		s.must(holder.Boot(t.Context()))
		s.must(s.Settled(t.Context()))
	}
	holder := s.holder()
	s.must(holder.CutPower())
	at := time.Now()
	moved, to, err := Left(t.Context(), s.Observer, holder.Name)
	s.must(err)
	time.Sleep(2 * time.Second) // requests after the move, each of which must be served
	t.Logf("power cut on %s: %s holds the VIP after %v", holder.Name, to, moved.Sub(at))
	if after := c.Probes.So().Since(moved.Add(time.Second)).Unserved(); len(after) > 0 {
		t.Errorf("a second after the VIP had a new holder: %v", after)
	}
}

// held waits until one node alone holds the API VIP, by the observer that holder asks: another one
// may be a sample ahead of it.
func (s *stage) held(ctx context.Context) error {
	return Until(ctx, time.Minute, func() error {
		if holders := s.Holders(); len(holders) != 1 {
			return fmt.Errorf("the VIP is held by %v", holders)
		}
		return nil
	})
}

// holder is the node that holds the VIP.
func (s *stage) holder() *Node {
	s.Helper()
	holders := s.Holders()
	for _, n := range s.Nodes {
		if slices.Equal(holders, []string{n.Name}) {
			return n
		}
	}
	s.Fatalf("the VIP is held by %v", holders)
	return nil
}
