package services

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provisions"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/release"
)

// Bootstrap probes what the bootstrap machine holds the VIP for, and what can take it over.
type Bootstrap struct {
	port   uint16 // of the API
	heirs  func() []netip.Addr
	access *kubeconfig.Access
	api    *probe.API
	ironic *probe.Either
	own    netip.Addr // at which alone our Ironic listens; invalid if it is the loopback's

	log    *slog.Logger
	logged string // of the API
}

// NewBootstrap takes the path of a kubeconfig for the machine's own API server, and the addresses
// of the control plane nodes that can take the VIP over.
func NewBootstrap(
	p plan.Plan, path string, heirs func() []netip.Addr, log *slog.Logger,
) *Bootstrap {
	access, number := kubeconfig.NewAccess(path, log), p.Ports[port.API]
	host := "localhost" // where another installer's Ironic listens, too
	var own netip.Addr
	if provisions.Runs(p) {
		host, own = p.Provisioning.IronicHost(), p.Provisioning.Own()
	}
	ironic := "://" + net.JoinHostPort(host, fmt.Sprint(p.Ports[port.Ironic])) + "/v1"
	return &Bootstrap{
		port: number, heirs: heirs, access: access, own: own, log: log,
		api: probe.NewAPI(fmt.Sprintf("localhost:%d", number), access.Client),
		ironic: &probe.Either{Plain: probe.NewHTTP("http"+ironic, localhost.Dial),
			Secure: probe.NewUntrusted("https"+ironic, localhost.Dial)},
	}
}

// API is the state of the machine's own API server.
func (b *Bootstrap) API(ctx context.Context) health.API {
	state, why := b.api.Probe(ctx)
	if ctx.Err() == nil && why != b.logged {
		b.log.Info("local API", "state", state.String(), "why", why)
		b.logged = why
	}
	return state
}

// Ironic reports whether Ironic answers, ours with TLS or that of another installer without. If
// this machine does not have our Ironic's address, that does not run here: the cluster's may
// answer, which gets the address later.
func (b *Bootstrap) Ironic(ctx context.Context) bool {
	if b.own.IsValid() {
		if _, here, err := link.Holder(b.own); err == nil && !here {
			return false
		}
	}
	return b.ironic.Probe(ctx) == nil
}

// Heir probes the API servers of all control plane nodes at the same time. Their certificates
// must be trusted, as that of the local one.
func (b *Bootstrap) Heir(ctx context.Context) release.Heir {
	heirs := b.heirs()
	seen := make([]health.API, len(heirs))
	var asked sync.WaitGroup
	for i, heir := range heirs {
		asked.Go(func() {
			address := netip.AddrPortFrom(heir, b.port).String()
			seen[i], _ = probe.NewAPI(address, b.access.Client).Probe(ctx)
		})
	}
	asked.Wait()
	return release.HeirAmong(seen)
}
