//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/onprem-infra/onprem-infra/cluster/vip/founding"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// founder looks at what the first node of a cluster depends on.
type founder struct {
	port uint16 // of the API
	own  *probe.API
}

// newFounding is nil where no node can be the first one: the control plane has a bootstrap machine
// before it, this node is none of it, or the API has named its nodes before.
func newFounding(m *monitor, p plan.Plan, r role.Role, memory nodestate.Memory, access *kubeconfig.Access) *founding.Founding {
	if !p.Flavour().Founds || r != role.Master || len(memory.Nodes) > 0 {
		return nil
	}
	f := founder{port: p.Ports[port.API]}
	f.own = probe.NewAPI(fmt.Sprintf("localhost:%d", f.port), access.Client)
	return founding.New(founding.Options{VIPs: p.VIPs.API, Prober: f, Wake: m.wake, Log: m.log})
}

func (f founder) Ready(ctx context.Context) (bool, string) {
	state, why := f.own.Probe(ctx)
	return state == health.Ready, fmt.Sprintf("it is %s: %s", state, why)
}

// Answered asks for a connection: a host that has the address refuses it at least.
func (f founder) Answered(ctx context.Context, at netip.Addr) bool {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(at, f.port).String())
	if err == nil {
		_ = connection.Close() // nothing was said
		return true
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
