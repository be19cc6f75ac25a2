package services

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// First probes what decides whether this node is the first one of its cluster.
type First struct {
	port uint16 // of the API
	own  *probe.API
}

// NewFirst takes the access to this node's own API server.
func NewFirst(p plan.Plan, access *kubeconfig.Access) First {
	number := p.Ports[port.API]
	return First{number, probe.NewAPI(fmt.Sprintf("localhost:%d", number), access.Client)}
}

// Ready reports whether this node's API server is ready, and why.
func (f First) Ready(ctx context.Context) (bool, string) {
	state, why := f.own.Probe(ctx)
	return state == health.Ready, fmt.Sprintf("it is %s: %s", state, why)
}

// Answered reports whether a host has an address: it accepts or refuses a connection to it.
func (f First) Answered(ctx context.Context, at netip.Addr) bool {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(at, f.port).String())
	if err == nil {
		_ = connection.Close() // nothing was sent
		return true
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
