package probes

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/health"
)

// Served reports whether a server behind the balancer has passed a check. HAProxy calls its servers
// up before their first check, and also servers that refuse anonymous requests. These are probed
// with the kubelet's credentials.
func (p *Prober) Served(ctx context.Context) (bool, string) {
	text, err := p.options.Stats.Good(ctx)
	if err != nil {
		return false, fmt.Sprintf("read the balancer's statistics: %v", err)
	}
	stats, err := haproxy.ParseStats(text)
	if err != nil {
		return false, err.Error()
	}
	if haproxy.Ready(stats) {
		return true, "an API server has passed a check of the balancer"
	}
	if reserved := haproxy.Reserved(stats); len(reserved) > 0 {
		return p.probeReserved(ctx, reserved)
	}
	return false, "no API server has passed a check of the balancer"
}

// probeReserved probes API servers that refuse anonymous requests, all at once, so that one that
// hangs hides no other.
func (p *Prober) probeReserved(ctx context.Context, servers []netip.AddrPort) (bool, string) {
	ctx, cancel := context.WithTimeout(ctx, health.Balancer().Timeout)
	defer cancel() // of those that have not answered yet
	answers := make(chan health.API, len(servers))
	for _, s := range servers {
		go func() {
			state, _ := p.options.APIAt(s.String()).Probe(ctx)
			answers <- state
		}()
	}
	for range servers {
		if <-answers == health.Ready {
			return true, "an API server that refuses anonymous requests is ready"
		}
	}
	return false,
		"the API servers refuse anonymous requests, and none is ready for the kubelet's credentials"
}
