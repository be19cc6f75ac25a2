package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// routerCrash has every node run an ingress router, and kills that of the ingress VIP's holder. The
// figure is how long another node takes to hold that VIP.
func routerCrash(ctx context.Context, s *stage, _ *life.Node, m *measured) (value time.Duration, err error) {
	for _, n := range s.Nodes {
		if err := n.StartRouter(); err != nil {
			return 0, err
		}
	}
	stopped := map[*life.Node]bool{}
	defer func() {
		for _, n := range s.Nodes {
			if !stopped[n] {
				err = errors.Join(err, n.StopRouter())
			}
		}
	}()
	o, err := s.ObserveIngress()
	if err != nil {
		return 0, err
	}
	defer o.Stop()
	former, err := s.holds(ctx, o, nil)
	if err != nil {
		return 0, err
	}
	if err := pause(ctx, 5*time.Second); err != nil { // every node's check has passed
		return 0, err
	}
	m.at = time.Now()
	stopped[former] = true
	if err := former.StopRouter(); err != nil {
		return 0, err
	}
	if _, err := s.holds(ctx, o, former); err != nil {
		return 0, err
	}
	return max(time.Since(m.at), glance), nil
}

// holds waits until one node holds a VIP that another one held.
func (s *stage) holds(ctx context.Context, o *lab.Observer, former *life.Node) (n *life.Node, err error) {
	err = life.Until(ctx, patience, func() error {
		holders := o.Holders()
		i := slices.IndexFunc(s.Nodes, func(n *life.Node) bool { return slices.Equal(holders, []string{n.Name}) })
		if i < 0 || s.Nodes[i] == former {
			return fmt.Errorf("the ingress VIP is held by %v", holders)
		}
		n = s.Nodes[i]
		return nil
	})
	return n, err
}
