package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/test/life"
)

// The figures that min, median and max are of.
const (
	outage    = "blackout"
	lastLate  = "last late request"
	redirect  = "from ready to redirected"
	known     = "until all know"
	elsewhere = "until another node holds the VIP"
)

// memberChanges is the scenario whose figure virtual time does not have.
const memberChanges = "member-change"

// scenario is one way in which things go wrong, or change.
type scenario struct {
	name      string
	figure    string
	target    string // for lan, as a person reads it
	fast      string // for fast, where that has one of its own
	bootstrap bool   // the bootstrap machine holds the VIP
	dark      bool   // all is not well again by itself

	// fault happens on the holder, and may take as long as it needs. value is the figure, where
	// that is no outage.
	fault   func(ctx context.Context, s *stage, holder *life.Node, m *measured) (value time.Duration, err error)
	observe time.Duration // how long to observe at least
	heal    func(ctx context.Context, s *stage, holder *life.Node) error
}

// at has something happen at once.
func at(f func(holder *life.Node) error) func(context.Context, *stage, *life.Node, *measured) (time.Duration, error) {
	return func(_ context.Context, _ *stage, holder *life.Node, m *measured) (time.Duration, error) {
		m.at = time.Now()
		return 0, f(holder)
	}
}

// ended is at for what has an end of its own: what counts is what starts after it.
func ended(f func(holder *life.Node) error) func(context.Context, *stage, *life.Node, *measured) (time.Duration, error) {
	return func(_ context.Context, _ *stage, holder *life.Node, m *measured) (time.Duration, error) {
		err := f(holder)
		m.at = time.Now()
		return 0, err
	}
}

// scenarios are all, by the names that the bounds of a plan have too. A clash of virtual router IDs
// is none of them: these clusters use unicast, and do not receive one.
func scenarios() []scenario {
	boot := func(ctx context.Context, _ *stage, holder *life.Node) error { return holder.Boot(ctx) }
	return []scenario{
		{name: "power-loss", figure: outage, target: "370", fast: "180", observe: 2 * time.Second, fault: at((*life.Node).CutPower), heal: boot},
		{name: "api-crash", figure: outage, target: "0 failed", observe: 3 * time.Second, fault: ended(func(n *life.Node) error { return n.API.Kill() }),
			heal: func(ctx context.Context, _ *stage, holder *life.Node) error { return holder.API.Start(ctx) }},
		{name: "api-hang", figure: lastLate, target: "700", observe: 4 * time.Second,
			fault: at(func(n *life.Node) error { return n.API.Signal(syscall.SIGSTOP) }),
			heal:  func(_ context.Context, _ *stage, holder *life.Node) error { return holder.API.Signal(syscall.SIGCONT) }},
		{name: "lb-hang", figure: outage, target: "700", observe: 4 * time.Second, fault: at(func(n *life.Node) error { return n.Freeze(life.HAProxy) }),
			heal: func(_ context.Context, _ *stage, holder *life.Node) error { return holder.Thaw(life.HAProxy) }},
		{name: "lb-crash", figure: outage, target: "100", observe: 4 * time.Second, fault: at((*life.Node).KillHAProxy)},
		{name: "graceful", figure: outage, target: "100", observe: 2 * time.Second, fault: at(func(n *life.Node) error { return n.Stop("keepalived") }),
			heal: func(ctx context.Context, _ *stage, holder *life.Node) error { return holder.Node.Start(ctx) }},
		{name: "vrrp-kill", figure: outage, target: "400", observe: 2 * time.Second, fault: at((*life.Node).KillVRRP)},
		{name: "both-kill", figure: outage, target: "two holders 1000", observe: 3 * time.Second, fault: at((*life.Node).KillKeepalived)},
		{name: "reboot", figure: outage, target: "orderly", fault: inOrder(func(ctx context.Context, _ *stage, holder *life.Node) error { return holder.ShutDown(ctx) }), heal: boot},
		{name: "cold-start", figure: redirect, target: "800", fault: coldStart},
		{name: memberChanges, figure: known, target: "2000, no move", fault: memberChange},
		{name: "router-crash", figure: elsewhere, target: "500", fault: routerCrash},
		{name: "bootstrap-hang", figure: outage, target: "4000", bootstrap: true, observe: 6 * time.Second,
			fault: func(_ context.Context, s *stage, _ *life.Node, m *measured) (time.Duration, error) {
				m.at = time.Now()
				return 0, s.API.Signal(syscall.SIGSTOP)
			},
			heal: func(ctx context.Context, s *stage, _ *life.Node) error {
				if err := s.API.Signal(syscall.SIGCONT); err != nil {
					return err
				}
				_, err := s.observer.Wait(ctx, s.Bootstrap.Name)
				return err
			}},
		{name: "early-move", figure: outage, target: "no move", bootstrap: true, observe: 5 * time.Second, fault: provoke},
		{name: "handover", figure: outage, target: "orderly", bootstrap: true, fault: inOrder(func(_ context.Context, s *stage, _ *life.Node) error { return s.EndAPI() }),
			heal: func(ctx context.Context, s *stage, _ *life.Node) error {
				if err := s.API.Start(ctx); err != nil {
					return err
				}
				_, err := s.observer.Wait(ctx, s.Bootstrap.Name)
				return err
			}},
	}
}

// inOrder has a host leave in order, and judges it.
func inOrder(leave func(ctx context.Context, s *stage, holder *life.Node) error) func(context.Context, *stage, *life.Node, *measured) (time.Duration, error) {
	return func(ctx context.Context, s *stage, holder *life.Node, m *measured) (time.Duration, error) {
		host := s.Bootstrap.Name
		if holder != nil {
			host = holder.Name
		}
		m.at = time.Now()
		moved, err := life.Move(ctx, s.observer, s.crowd, host, func() error { return leave(ctx, s, holder) })
		m.faults = moved.Faults
		if err == nil && moved.After > s.drain {
			m.faults = append(m.faults, fmt.Sprintf("the VIP moved after %v, when its API served no more", moved.After))
		}
		return 0, err
	}
}

// provoke has the nodes, each of which could hold the VIP, elect anew beside the bootstrap machine.
func provoke(_ context.Context, s *stage, _ *life.Node, m *measured) (time.Duration, error) {
	m.at = time.Now()
	var errs []error
	for _, n := range s.Nodes {
		errs = append(errs, n.Candidate(), n.KillVRRP())
	}
	return 0, errors.Join(errs...)
}
