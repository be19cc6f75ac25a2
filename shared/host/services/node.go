// Package services probes the services of this host on which its VIPs depend, and those of the
// hosts that may hold the VIPs next.
package services

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/probes"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/host/podresources"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Node are the services of this node on which its VIPs depend.
func Node(p plan.Plan, access *kubeconfig.Access) probes.Options {
	dial := new(localhost.Dialer).Dial
	// A control plane node has no ingress router, and its checks probe for one all the time. One
	// that comes is noticed a second later.
	seldom := (&localhost.Dialer{Rest: 900 * time.Millisecond}).Dial
	local := func(name, path string) *probe.HTTP {
		return probe.NewHTTP(fmt.Sprintf("http://localhost:%d%s", p.Ports[name], path), dial)
	}
	ingress := func(name, path string) *probe.HTTP {
		return probe.NewHTTP(fmt.Sprintf("http://localhost:%d%s", p.Ports[name], path), seldom)
	}
	rules, filter := redirect.Of(p.VIPs.API, p.MachineNetworks, p.Ports), new(nft.Memo)
	o := probes.Options{
		// Not at the port that is open to others: they could fill it, and the balancer would count
		// as dead.
		Balancer:    local(port.LBStats, "/haproxy_ready"),
		Stats:       local(port.LBStats, "/haproxy_stats;csv"),
		Router:      ingress(port.IngressHTTP, "/"),
		RouterReady: ingress(port.RouterStats, "/healthz/ready"),
		OpenShift:   p.Flavour().Routers,
		API:         probe.NewAPI(fmt.Sprintf("localhost:%d", p.Ports[port.API]), access.Client),
		APIAt:       func(server string) probes.API { return probe.NewAPI(server, access.Client) },
		Redirected:  func() (bool, error) { return filter.Present(rules) },
		Pods: func(ctx context.Context) (pods []probes.Pod, err error) {
			all, err := podresources.List(ctx, podresources.Socket)
			for _, pod := range all {
				pods = append(pods, probes.Pod(pod))
			}
			return pods, err
		},
		NameServer: nameServer(p, local(port.CoreDNSHealth, "/health")),
	}
	if o.OpenShift {
		o.Router = ingress(port.RouterStats, "/healthz")
	}
	if len(p.VIPs.Provisioning) > 0 {
		ironic := fmt.Sprintf("://localhost:%d/v1", p.Ports[port.Ironic])
		either := probe.Either{Plain: probe.NewHTTP("http"+ironic, seldom),
			Secure: probe.NewUntrusted("https"+ironic, seldom)}
		o.Ironic = either.Probe
	}
	if p.Flavour().MachineConfig {
		url := fmt.Sprintf("https://localhost:%d/healthz", p.Ports[port.MachineConfig])
		o.MachineConfig = probe.NewUntrusted(url, dial)
	}
	return o
}

// nameServer asks the node's name server for a record of its own, so that no other server is
// judged. Where another server has the cluster's records it has none, and its health is probed.
func nameServer(p plan.Plan, health *probe.HTTP) func(ctx context.Context) error {
	if p.DNSRecords == spec.External {
		return func(ctx context.Context) error {
			_, err := health.Good(ctx)
			return err
		}
	}
	server := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), p.Ports[port.DNS])
	name := "api-int." + string(p.Cluster.Zone)
	return func(ctx context.Context) error { return probe.DNS(ctx, server, name) }
}

// Supervisor probes the health endpoint of keepalived's supervisor over one connection.
func Supervisor(p plan.Plan) *probe.HTTP {
	url := fmt.Sprintf("http://localhost:%d/healthz", p.Ports[port.Supervise])
	return probe.NewHTTP(url, localhost.Dial)
}
