package chaos

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/life"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// shutdownDelay is how long API servers serve on that got the signal to end: shorter than in a real
// cluster, as no rule is about it.
const shutdownDelay = 2 * time.Second

// foreignIP is a host's that is not the cluster's. It sends to the VIP once and then only listens,
// as the quiet part of a network does.
var foreignIP = netip.MustParseAddr("192.0.2.60")

// Stage is a cluster in which schedules are run.
type Stage struct {
	*life.Life
	Bounds Bounds

	foreign *lab.Host
	macs    map[string]string // link address -> node
	probes  *traffic.Prober
	open    func(context.Context) error // opens the gates; nil when they are open
}

// Open builds a cluster of some timing, whose nodes run and whose gates are closed: a server that
// is none of theirs has the VIP.
func Open(ctx context.Context, log *slog.Logger, timing string, masters int) (_ *Stage, err error) {
	s := &Stage{macs: map[string]string{}}
	if s.Life, err = life.Open(ctx, log, life.Options{Timing: timing, Masters: masters, Families: "dual", ShutdownDelay: shutdownDelay}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close(context.WithoutCancel(ctx)))
		}
	}()
	s.Bounds = boundsOf(s.Plan)
	if s.foreign, err = s.Host("foreign", foreignIP); err != nil {
		return nil, err
	}
	for _, n := range s.Nodes {
		err := n.Host.Do(func() error {
			eth0, err := net.InterfaceByName("eth0")
			if err == nil {
				s.macs[eth0.HardwareAddr.String()] = n.Name
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if s.open, err = s.StartClosed(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// OpenGates starts the nodes' API servers, and returns when one of the nodes has the VIP.
func (s *Stage) OpenGates(ctx context.Context) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	s.open = nil
	config, err := s.ClientConfig()
	if err != nil {
		return err
	}
	// As figures are made: an API server that answers 500 serves, and is going to end.
	config.MinVersion = tls.VersionTLS13
	s.probes = traffic.ProbeFor(s.Neighbour.Dial, traffic.Ask{URL: "https://" + chain.APIVIP.String() + ":6443/readyz", Config: config, Every: sample,
		Patience: life.Patience, Good: []int{http.StatusOK, http.StatusInternalServerError}})
	return nil
}

// Close ends everything.
func (s *Stage) Close(ctx context.Context) error {
	if s.probes != nil {
		s.probes.Stop()
	}
	return s.Life.Close(ctx)
}

// Names are the nodes', in order.
func (s *Stage) Names() (all []string) {
	for _, n := range s.Nodes {
		all = append(all, n.Name)
	}
	return all
}

func (s *Stage) node(name string) *life.Node {
	return s.Nodes[slices.IndexFunc(s.Nodes, func(n *life.Node) bool { return n.Name == name })]
}

// rests is how long a cluster may take to come to rest after the last fault, the boot of a node and
// its API server included.
const rests = 45 * time.Second

// rest waits until the cluster is at rest: every node could hold the VIPs, one of them holds each,
// and no two have one rank.
func (s *Stage) rest(ctx context.Context, w *watch) error {
	return life.Until(ctx, rests, func() error {
		for i, v := range w.vips {
			if err := s.restless(i, v.observer.Holders()); err != nil {
				return fmt.Errorf("%s: %w", v.vip, err)
			}
		}
		return nil
	})
}

// restless reports why a cluster is not at rest, as far as one of its VIPs goes.
func (s *Stage) restless(vip int, holders []string) error {
	if s.open != nil {
		if !slices.Equal(holders, []string{s.Bootstrap.Name}) {
			return fmt.Errorf("the gates are closed, and it is held by %v", holders)
		}
		return nil
	}
	if len(holders) != 1 {
		return fmt.Errorf("it is held by %v", holders)
	}
	alike := map[int]string{}
	for _, n := range s.Nodes {
		if err := n.Candidate(); err != nil {
			return err
		}
		status, err := n.Status()
		if err != nil {
			return err
		}
		i := status.Instances[fmt.Sprintf("%s_API_%d", chain.Cluster, vip)]
		if (i.State == supervised.Master) != (n.Name == holders[0]) {
			return fmt.Errorf("it is held by %v, and %s is %s", holders, n.Name, i.State)
		}
		if i.State == supervised.Master {
			i.Priority -= s.Plan.VRRP.ControlPlane.Holder
		}
		if other, found := alike[i.Priority]; found && s.Bounds.Ranked {
			return fmt.Errorf("%s and %s have one priority, %d, and so one rank", other, n.Name, i.Priority)
		}
		alike[i.Priority] = n.Name
	}
	return nil
}

// greet has the foreign host send to the VIPs once, and the clients to the one that they do not
// use, so that they know where those are.
func (s *Stage) greet(ctx context.Context) error {
	for _, vip := range s.Plan.VIPs.API {
		for _, h := range []*lab.Host{s.Neighbour, s.foreign} {
			conn, err := h.Dial(ctx, "udp", netip.AddrPortFrom(vip, 9).String())
			if err != nil {
				return err
			}
			_, err = conn.Write([]byte("hello"))
			if err := errors.Join(err, conn.Close()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Logs are what the containers of all nodes have logged about the VIP.
func (s *Stage) Logs() string {
	var text strings.Builder
	for _, n := range s.Nodes {
		for _, c := range []string{life.Keepalived, life.KeepalivedMonitor, life.HAProxyMonitor} {
			fmt.Fprintf(&text, "== %s %s\n%s\n", n.Name, c, n.Log(c))
		}
	}
	return text.String()
}
