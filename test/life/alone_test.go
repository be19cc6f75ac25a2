package life

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// alone is a cluster without a bootstrap machine, one of whose nodes holds the VIP.
func alone(t *testing.T, o Options) *stage {
	t.Helper()
	need.Root(t)
	for _, name := range []string{"debootstrap", "podman", "runc", "catatonit", "ip", "nsenter", "make", "etcd", "keepalived", "haproxy"} {
		need.Command(t, name)
	}
	s := &stage{T: t}
	var err error
	s.Life, err = Open(t.Context(), slog.New(slog.NewTextHandler(t.Output(), nil)), o)
	s.must(err)
	t.Cleanup(func() {
		if t.Failed() {
			s.explain()
		}
		if err := s.Life.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	begin := time.Now()
	s.must(s.Start(t.Context()))
	t.Logf("%s: a node holds the VIP %v after the start", s.Plan.Timing.Profile, time.Since(begin).Round(10*time.Millisecond))
	s.Observer, err = s.Observe()
	s.must(err)
	t.Cleanup(func() { s.Stop() })
	s.must(s.held(t.Context()))
	return s
}

// TestAlone starts a small cluster without a bootstrap machine and does to it what can be done to a
// node. All its containers are of one image; those of all other tests have one each.
func TestAlone(t *testing.T) {
	s := alone(t, Options{Timing: "lan", Masters: 2, Workers: 1, OneImage: true})
	worker := s.Workers[0]
	s.must(worker.StartRouter())
	ingress, err := s.ObserveIngress()
	s.must(err)
	defer ingress.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = ingress.Wait(ctx, worker.Name)
	s.must(err)
	s.must(worker.StopRouter())
	_, err = ingress.Wait(ctx)
	s.must(err)
	for _, fault := range []struct {
		name     string
		do, undo func(n *Node) error
	}{
		{"keepalived's VRRP process killed", (*Node).KillVRRP, nil},
		{"all of keepalived killed", (*Node).KillKeepalived, nil},
		{"cut from all", func(n *Node) error { return n.Host.Cut(lab.Both) }, func(n *Node) error { return n.Host.Reconnect() }},
		{"power cut", (*Node).CutPower, func(n *Node) error { return n.Boot(t.Context()) }},
	} {
		t.Run(fault.name, func(t *testing.T) {
			holder := s.holder()
			s.must(fault.do(holder))
			s.must(Until(t.Context(), 15*time.Second, func() error { return s.another(holder.Name) }))
			if fault.undo != nil {
				s.must(fault.undo(holder))
			}
			s.must(s.Settled(t.Context()))
			s.must(s.held(t.Context()))
		})
	}
}

// another reports whether a node that is not this one holds the VIP; one that is cut off may go on
// holding it beside.
func (s *stage) another(host string) error {
	if holders := s.Holders(); !slices.ContainsFunc(holders, func(h string) bool { return h != host }) {
		return fmt.Errorf("the VIP is held by %v", holders)
	}
	return nil
}

// TestLongSideBySide runs two clusters of the same addresses at the same time.
func TestLongSideBySide(t *testing.T) {
	needLong(t)
	for _, timing := range []string{"lan", "compat"} {
		t.Run(timing, func(t *testing.T) {
			t.Parallel()
			s := alone(t, Options{Timing: timing, Masters: 2})
			holder := s.holder()
			s.must(holder.CutPower())
			_, to, err := Left(t.Context(), s.Observer, holder.Name)
			s.must(err)
			if names := []string{s.Nodes[0].Name, s.Nodes[1].Name}; !slices.Contains(names, to) || to == holder.Name {
				t.Errorf("the VIP went from %s to %s", holder.Name, to)
			}
		})
	}
}
