//go:build remote

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/vip/probes"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	haproxyd "github.com/onprem-infra/onprem-infra/shared/host/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/daemons"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/network"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/routed"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/system"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/operator/drift"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// apiTimeout bounds what doctor asks the API.
const apiTimeout = 3 * time.Second

// newDoctor diagnoses this host, whose files should be those of the plan wanted.
func newDoctor(p, wanted plan.Plan, m *monitor) diagnose.Host {
	host := inspect.New(p)
	nodes := func(ctx context.Context) ([]kube.Node, error) {
		credentials := m.credentials(p)
		if there, err := file.Exists(credentials); err != nil || !there {
			return nil, errors.Join(err, fmt.Errorf("there is no %s", credentials))
		}
		return network.NodesWithin(
			ctx, apiTimeout, kube.NewAPI(credentials, m.log).ControlPlane(p.ControlPlaneLabel))
	}
	own := daemonProbes(p, host, m)
	routers := routed.HostProbes()
	routers.Alive = own.Alive
	return diagnose.Host{
		Inspector: host, Routed: routers, Pause: diagnose.Pause, System: system.HostProbes(),
		Network: network.HostProbes(p, nodes),
		Daemons: own,
		Drift:   func(r role.Role) (drift.Report, error) { return ownDrift(host.Files, wanted, r) },
	}
}

// daemonProbes ask the programs of this host.
func daemonProbes(p plan.Plan, host *inspect.Inspector, m *monitor) daemons.Probes {
	rules := redirect.Of(p.VIPs.API, p.MachineNetworks, p.Ports)
	own := services.Node(p, kubeconfig.NewAccess(m.credentials(p), m.log))
	return daemons.Probes{
		Backends: host.Backends, Lookup: host.Lookup, Check: probes.New(own).Probe,
		Alive: func(ctx context.Context, number uint16, path string) error {
			url := fmt.Sprintf("http://localhost:%d%s", number, path)
			_, err := probe.NewHTTP(url, localhost.Dial).Good(ctx)
			return err
		},
		Structure: func(ctx context.Context) (string, error) {
			return haproxyd.Structure(ctx, haproxy.Run.Socket())
		},
		Redirected: func() (bool, error) { return nft.Present(rules) },
		Server: func(ctx context.Context, address string) (health.API, string) {
			return own.APIAt(address).Probe(ctx)
		},
		Rights: func(ctx context.Context, r role.Role) ([]inspect.MissingRight, error) {
			ctx, cancel := context.WithTimeout(ctx, apiTimeout)
			defer cancel()
			return inspect.AskRights(ctx, p, r, kube.NewAPI(m.credentials(p), m.log))
		},
		Text: func(ctx context.Context, name string) ([]string, error) {
			return probe.Text(
				ctx, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), p.Ports[port.DNS]),
				name)
		},
		LookupAt: func(ctx context.Context, server netip.Addr, name string) ([]netip.Addr, error) {
			return probe.Lookup(ctx, netip.AddrPortFrom(server, p.Ports[port.DNS]), name)
		},
	}
}

// ownDrift is how this host's files differ from a plan.
func ownDrift(files inspect.Files, p plan.Plan, r role.Role) (drift.Report, error) {
	host, done, err := hostFiles(cmp.Or(files.Root, "/"))
	if err != nil {
		return drift.Report{}, err
	}
	defer done()
	var there *plan.Plan
	if text, err := readFile(files.Path(plan.Path)); err == nil {
		if p, err := plan.Parse(plan.Path, text); err == nil {
			there = &p
		}
	}
	return hostDrift(host, p, r, there)
}
