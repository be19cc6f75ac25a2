package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/life"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

func (s *show) boot(ctx context.Context) (saw []string, err error) {
	if s.observer, err = s.cluster.Observe(); err != nil {
		return nil, err
	}
	if err := s.cluster.Boot(ctx); err != nil {
		return nil, err
	}
	if err := s.cluster.Install(ctx); err != nil {
		return nil, err
	}
	up, err := s.hold(ctx, time.Minute, "bootstrap")
	if err != nil {
		return nil, err
	}
	start, err := s.cluster.ExecStart(ctx)
	if err != nil {
		return nil, err
	}
	saw = append(saw, fmt.Sprintf("the machine holds %s, %s after the unit's ExecStart (so long keepalived listens whether another one does)", chain.APIVIP, round(up.Sub(start))))
	containers, err := s.cluster.VM.Run(ctx, "sh", "-c", "podman inspect --format '{{.Name}}: {{.ImageName}}, privileged: {{.HostConfig.Privileged}}, {{.EffectiveCaps}}' $(podman ps --quiet)")
	return append(saw, strings.Split(strings.TrimSpace(containers), "\n")...), err
}

func (s *show) resolve(ctx context.Context) (saw []string, err error) {
	for _, what := range []struct {
		name  string
		qtype uint16
		want  string
	}{
		{"api." + chain.Zone, dns.TypeA, chain.APIVIP.String()},
		{"api-int." + chain.Zone, dns.TypeA, chain.APIVIP.String()},
		{"console.apps." + chain.Zone, dns.TypeA, chain.IngressVIP.String()},
		{"api." + chain.Zone, dns.TypeAAAA, ""},
		{chain.Outside, dns.TypeA, chain.OutsideIP},
	} {
		got, err := s.cluster.Lookup(ctx, what.name, what.qtype)
		if err != nil {
			return saw, err
		}
		text := strings.Trim(fmt.Sprint(got), "[]")
		if text != what.want {
			return saw, fmt.Errorf("%s %s is %q, not %q", what.name, dns.TypeToString[what.qtype], text, what.want)
		}
		if text == "" {
			text = "exists, has no such address (the cluster is IPv4 only)"
		}
		saw = append(saw, fmt.Sprintf("%-30s %-4s %s", what.name, dns.TypeToString[what.qtype], text))
	}
	return saw, nil
}

func (s *show) join(ctx context.Context) (saw []string, err error) {
	for _, n := range s.cluster.Nodes {
		start := time.Now()
		if err := n.Join(ctx, s.cluster.API); err != nil {
			return saw, err
		}
		saw = append(saw, fmt.Sprintf("%s: its pods and its API server run after %s", n.Name, round(time.Since(start))))
	}
	if err := s.cluster.Settled(ctx); err != nil {
		return saw, err
	}
	if holders := s.observer.Holders(); !slices.Equal(holders, []string{"bootstrap"}) {
		return saw, fmt.Errorf("the VIP is held by %v", holders)
	}
	p := s.cluster.Plan.VRRP
	return append(saw, fmt.Sprintf("each of them could hold the VIP now, at priority %d at the most; the bootstrap machine announces %d: the VIP has not moved", p.ControlPlane.Max, p.BootstrapPriority)), nil
}

func (s *show) attend(ctx context.Context) (saw []string, err error) {
	s.crowd, err = s.cluster.Attend(ctx, 2*time.Second) // this machine may have other things to do
	return nil, err
}

func (s *show) handOver(ctx context.Context) ([]string, error) {
	return s.move(ctx, event{title: "the bootstrap's API ends in order", scenario: "handover"}, "bootstrap", s.cluster.EndAPI)
}

func (s *show) reboot(ctx context.Context) ([]string, error) {
	holder, err := s.holder()
	if err != nil {
		return nil, err
	}
	saw, err := s.move(ctx, event{title: holder.Name + " reboots in order", scenario: "reboot"}, holder.Name, func() error { return holder.ShutDown(ctx) })
	if err != nil {
		return saw, err
	}
	if err := errors.Join(holder.Boot(ctx), s.cluster.Settled(ctx)); err != nil {
		return saw, err
	}
	return append(saw, holder.Name+" is back and a candidate"), nil
}

// move has a host leave in order, and reports what the clients saw.
func (s *show) move(ctx context.Context, e event, host string, leave func() error) ([]string, error) {
	e.at = time.Now()
	m, err := life.Move(ctx, s.observer, s.crowd, host, leave)
	if err != nil {
		return nil, err
	}
	e.moved, e.seen = m, s.crowd.Probes.So()
	s.keep(e)
	saw := []string{
		fmt.Sprintf("%s holds it %s after the order; no host held it for %s, two hosts for %s", m.To, round(m.After), round(m.NoHolder), round(m.Both)),
		m.Requests.String(),
		fmt.Sprintf("%d of %d watches were cut, none was without news for more than %s", m.Cut, life.Watchers, round(m.Silent)),
	}
	if len(m.Faults) > 0 {
		return saw, fmt.Errorf("the move was not orderly: %s", strings.Join(m.Faults, "; "))
	}
	return saw, nil
}

func (s *show) cutPower(ctx context.Context) ([]string, error) {
	holder, err := s.holder()
	if err != nil {
		return nil, err
	}
	config, err := s.cluster.ClientConfig()
	if err != nil {
		return nil, err
	}
	// What an outage takes shows in clients that do not wait for its end.
	impatient := traffic.Probe(s.cluster.Neighbour.Dial, "https://"+chain.APIVIP.String()+":6443/version", config, 10*time.Millisecond, life.Patience)
	defer impatient.Stop()
	if err := pause(ctx, time.Second); err != nil {
		return nil, err
	}
	at := time.Now()
	if err := holder.CutPower(); err != nil {
		return nil, err
	}
	since, to, err := life.Left(ctx, s.observer, holder.Name)
	if err != nil {
		return nil, err
	}
	if err := pause(ctx, 2*time.Second); err != nil {
		return nil, err
	}
	seen := impatient.Stop()
	m := life.Moved{From: holder.Name, To: to, After: since.Sub(at), NoHolder: since.Sub(at), Requests: seen.Since(at.Add(-life.Patience))}
	s.keep(event{title: holder.Name + " loses its power", scenario: "power-loss", at: at, moved: m, seen: seen})
	return []string{
		fmt.Sprintf("%s had it, %s has it %s later: three advertisements that did not come, and the skew", holder.Name, to, round(m.After)),
		m.Requests.String(),
	}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// holder is the node that holds the VIP.
func (s *show) holder() (*life.Node, error) {
	holders := s.observer.Holders()
	for _, n := range s.cluster.Nodes {
		if slices.Equal(holders, []string{n.Name}) {
			return n, nil
		}
	}
	return nil, fmt.Errorf("the VIP is held by %v", holders)
}

// hold waits until one machine alone holds the VIP, and returns since when.
func (s *show) hold(ctx context.Context, within time.Duration, host string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return s.observer.Wait(ctx, host)
}

// timeline is the whole run by the kernels' addresses.
func (s *show) timeline(context.Context) (saw []string, err error) {
	r := s.observer.Stop()
	if r.Err != nil {
		return nil, r.Err
	}
	begin := r.Spans[0].From
	for _, span := range r.Spans {
		holders := strings.Join(span.Holders, " and ")
		if holders == "" {
			holders = "no host"
		}
		saw = append(saw, fmt.Sprintf("%8.3f s  %-22s for %.3f s", span.From.Sub(begin).Seconds(), holders, span.Length().Seconds()))
	}
	saw = append(saw, fmt.Sprintf("%d samples, %s between two of them at most", r.Samples, round(r.Slowest)))
	// Two adverts are more than one and the skew, and 60 ms is what this machine may be late by.
	most := 2*time.Duration(s.cluster.Plan.Timing.AdvertIntervalMs)*time.Millisecond + 60*time.Millisecond
	for _, d := range r.Doubles() {
		if d.Length() > most {
			return saw, fmt.Errorf("two holders for %s, longer than their packets take to reach each other", d.Length())
		}
	}
	return saw, nil
}
