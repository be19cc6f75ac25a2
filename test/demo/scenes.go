package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/chain"
)

// serve asks the API server and the machine config server, where masters fetch their Ignition.
func (s *show) serve(ctx context.Context) (saw []string, err error) {
	for _, what := range []struct {
		port int
		path string
	}{{6443, "/readyz"}, {22623, "/config/master"}} {
		address, code := fmt.Sprintf("%s:%d", chain.APIVIP, what.port), 0
		err := until(ctx, 10*time.Second, func() (err error) {
			if code, err = s.chain.Get(ctx, address, what.path); err == nil && code != http.StatusOK {
				err = fmt.Errorf("answer %d", code)
			}
			return err
		})
		if err != nil {
			return saw, fmt.Errorf("https://%s%s: %w", address, what.path, err)
		}
		saw = append(saw, fmt.Sprintf("https://%s%s answers %d, the certificate is the cluster's", address, what.path, code))
	}
	return saw, nil
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
		got, err := s.chain.Lookup(ctx, what.name, what.qtype)
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
	if err := s.chain.Kubeconfig(ctx); err != nil {
		return nil, err
	}
	start := time.Now()
	var want []string
	for _, m := range s.chain.Masters {
		want = append(want, m.IP())
		if err := s.chain.Register(ctx, m); err != nil {
			return nil, err
		}
	}
	err = until(ctx, 15*time.Second, func() error {
		got, err := s.chain.Peers(ctx)
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("keepalived's peers are %v", got)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	saw = append(saw, fmt.Sprintf("keepalived went from multicast to unicast with %s, %s after the first Node", strings.Join(want, " and "), round(time.Since(start))))
	for _, m := range s.chain.Masters {
		if err := m.Start(ctx); err != nil {
			return saw, err
		}
	}
	select {
	case <-ctx.Done():
		return saw, ctx.Err()
	case <-time.After(8 * time.Second): // two master-down times of a node
	}
	r := s.observer.Report()
	if r.Err != nil || len(r.Doubles()) > 0 || len(r.Gaps()) > 0 {
		return saw, fmt.Errorf("the VIP moved: %v (%v)", r.Spans, r.Err)
	}
	return append(saw, "8 s later the masters announce priority 68 at most, the machine 70: the VIP has not moved and never had two holders"), nil
}

func (s *show) stop(ctx context.Context) ([]string, error) {
	gone, err := s.chain.StopVIP(ctx)
	if err != nil {
		return nil, err
	}
	saw := []string{fmt.Sprintf("gone %s after the order", round(gone))}
	if gone > 200*time.Millisecond {
		return saw, fmt.Errorf("the VIP was to be gone within 200 ms")
	}
	err = until(ctx, 10*time.Second, func() error {
		if h := s.observer.Holders(); len(h) != 1 || h[0] == "bootstrap" {
			return fmt.Errorf("held by %v", h)
		}
		return nil
	})
	if err != nil {
		return saw, err
	}
	gaps := s.observer.Report().Gaps()
	return append(saw, fmt.Sprintf("%s holds it, %s later", s.observer.Holders()[0], round(gaps[len(gaps)-1].Length()))), nil
}

func (s *show) start(ctx context.Context) ([]string, error) {
	up, err := s.chain.StartVIP(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := s.hold(ctx, 10*time.Second, "bootstrap"); err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("back %s after ExecStart", round(up))}, nil
}

// timeline is the whole run as the kernels' addresses tell it.
func (s *show) timeline(context.Context) (saw []string, err error) {
	r := s.observer.Stop()
	if r.Err != nil {
		return nil, r.Err
	}
	begin := r.Spans[0].From
	for _, span := range r.Spans {
		holders := strings.Join(span.Holders, " and ")
		if holders == "" {
			holders = "nobody"
		}
		saw = append(saw, fmt.Sprintf("%8.3f s  %-22s for %.3f s", span.From.Sub(begin).Seconds(), holders, span.Length().Seconds()))
	}
	saw = append(saw, fmt.Sprintf("%d samples, %s between two of them at most", r.Samples, round(r.Slowest)))
	for _, d := range r.Doubles() {
		if d.Length() > time.Second {
			return saw, fmt.Errorf("two holders for %s, longer than one advertisement takes", d.Length())
		}
	}
	return saw, nil
}
