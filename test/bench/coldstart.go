package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	rules "github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// glance is how often a node is observed.
const glance = 10 * time.Millisecond

// coldStart has all nodes lose their power and come back at once. The figure is how long the first
// one whose API server serves takes to lead the VIP to its balancer.
func coldStart(ctx context.Context, s *stage, _ *life.Node, m *measured) (time.Duration, error) {
	m.at = time.Now()
	var errs []error
	for _, n := range s.Nodes {
		errs = append(errs, n.CutPower())
	}
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	var running sync.WaitGroup
	boots := make([]error, len(s.Nodes))
	for i, n := range s.Nodes {
		running.Go(func() { boots[i] = n.Boot(ctx) })
	}
	serving, redirected := make([]time.Time, len(s.Nodes)), make([]time.Time, len(s.Nodes))
	risen := make([]error, len(s.Nodes))
	for i, n := range s.Nodes {
		running.Go(func() { serving[i], redirected[i], risen[i] = s.rises(ctx, n) })
	}
	running.Wait()
	if err := errors.Join(append(boots, risen...)...); err != nil {
		return 0, err
	}
	first := 0
	for i := range serving {
		if serving[i].Before(serving[first]) {
			first = i
		}
	}
	return max(redirected[first].Sub(serving[first]), glance), nil
}

// rises waits until a node's API server serves, and until the redirect to its balancer is there.
func (s *stage) rises(ctx context.Context, n *life.Node) (serving, redirected time.Time, err error) {
	var redirects sync.WaitGroup
	var missing error
	redirects.Go(func() {
		missing = life.Until(ctx, patience, func() error {
			there, err := s.redirects(n)
			if redirected = time.Now(); err == nil && !there {
				err = fmt.Errorf("%s does not lead the VIP to its balancer", n.Name)
			}
			return err
		})
	})
	defer redirects.Wait()
	if err := life.Until(ctx, patience, func() error {
		if n.API.PID() == 0 {
			return fmt.Errorf("the API server of %s does not run", n.Name)
		}
		return nil
	}); err != nil {
		return serving, redirected, err
	}
	err = n.API.Ready(ctx)
	serving = time.Now()
	redirects.Wait()
	return serving, redirected, errors.Join(err, missing)
}

// redirects reports whether a node leads the VIP to its balancer.
func (s *stage) redirects(n *life.Node) (there bool, err error) {
	err = n.Host.Do(func() (err error) {
		there, err = nft.Present(rules.Of(s.Plan.VIPs.API, s.Plan.MachineNetworks, s.Plan.Ports))
		return err
	})
	return there, err
}
