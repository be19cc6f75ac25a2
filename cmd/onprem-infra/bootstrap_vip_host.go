//go:build remote

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/bootstrap/vip/announce"
	"github.com/onprem-infra/onprem-infra/bootstrap/vip/conflict"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/listen"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/rundir"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// runDir is where the bootstrap machine's programs and keepalived's supervisor communicate.
const runDir = rundir.Dir(supervised.RunDir)

// vipHost is the machine as the room sees it.
type vipHost struct {
	nodes     *kube.Watcher
	watch     *vip.Watch
	conflicts *conflict.Detector
	announcer *announce.Announcer
	listener  *listen.Listener
	starts    *starts
}

func (h vipHost) Listen(instances []clash.Instance) { h.listener.Expect(instances) }

func (h vipHost) OtherRouters() clash.Snapshot { return h.listener.Snapshot() }

func (h vipHost) Started() []vrrp.InstanceName { return h.starts.all }

func (h vipHost) Start(instances []vrrp.InstanceName) error { return h.starts.add(instances) }

func (vipHost) Links() (addr.Snapshot, error) { return link.Snapshot() }

func (h vipHost) Nodes() []addr.Candidate {
	nodes, _ := h.nodes.Nodes()
	return nodes
}

// heirs are the control plane nodes that the API told of last, or those kept of an earlier run
// while it has not told of any. It is for one goroutine.
func heirs(nodes func() ([]addr.Candidate, bool), kept []addr.Candidate) func() []addr.Candidate {
	return func() []addr.Candidate {
		if known, _ := nodes(); len(known) > 0 {
			kept = known
		}
		return kept
	}
}

func (h vipHost) Verdict(ctx context.Context) (release.Verdict, error) { return h.watch.Verdict(ctx) }

func (h vipHost) Conflicts(ctx context.Context) (map[netip.Addr]conflict.Finding, error) {
	return h.conflicts.Findings(ctx)
}

func (vipHost) Status() (supervised.Status, error) { return runDir.Status() }

func (vipHost) Propose(config keepalived.Config) error { return runDir.Propose(config) }

// leaveOwner marks a request to release the VIPs that this room has made.
const leaveOwner = "bootstrap/vip\n"

func (vipHost) Release(now bool) error { return runDir.SetLeave(leaveOwner, now) }

func (h vipHost) Announce(addresses []netip.Addr) { h.announcer.Announce(addresses) }

// bootstrapObject is the ConfigMap of the announced addresses.
type bootstrapObject struct {
	api       *kube.API
	namespace string
}

func (b bootstrapObject) Put(ctx context.Context, data map[string]string) error {
	return b.api.Put(ctx, b.namespace, notice.Bootstrap, func(map[string]string) map[string]string { return data })
}

func (vipHost) Keep(nodes []addr.Candidate) error { return onHost.keep(nodes) }

// vipNetwork is the machine's network as the claims on the VIPs see it.
type vipNetwork struct{}

func (vipNetwork) Links() (addr.Snapshot, error) { return link.Snapshot() }

func (vipNetwork) Ask(on string, address netip.Addr) error { return link.Ask(on, address) }

func (vipNetwork) Neighbour(on string, address netip.Addr) (addr.Neighbour, error) {
	return link.Neighbour(on, address)
}

// vipProber asks what the VIP is held for.
type vipProber struct {
	plan   plan.Plan
	nodes  func() []addr.Candidate
	access *kubeconfig.Access
	api    *probe.API
	ironic *probe.HTTP

	log    *slog.Logger
	logged string // of the API
}

func newVIPProber(p plan.Plan, path string, nodes func() []addr.Candidate, log *slog.Logger) *vipProber {
	access := kubeconfig.NewAccess(path, log)
	return &vipProber{
		plan: p, nodes: nodes, access: access, log: log,
		api:    probe.NewAPI(fmt.Sprintf("localhost:%d", p.Ports[port.API]), access.Client),
		ironic: probe.NewHTTP(fmt.Sprintf("http://localhost:%d/v1", p.Ports[port.Ironic]), localhost.Dial),
	}
}

func (v *vipProber) API(ctx context.Context) health.API {
	state, why := v.api.Probe(ctx)
	if ctx.Err() == nil && why != v.logged {
		v.log.Info("local API", "state", state.String(), "why", why)
		v.logged = why
	}
	return state
}

func (v *vipProber) Ironic(ctx context.Context) bool { return v.ironic.Probe(ctx) == nil }

// Heir asks the API servers of all control plane nodes side by side. They must show a certificate
// as the local one does.
func (v *vipProber) Heir(ctx context.Context) release.Heir {
	heirs := vip.Heirs(v.plan, v.nodes())
	seen := make([]health.API, len(heirs))
	var asked sync.WaitGroup
	for i, heir := range heirs {
		asked.Go(func() {
			address := netip.AddrPortFrom(heir, v.plan.Ports[port.API]).String()
			seen[i], _ = probe.NewAPI(address, v.access.Client).Probe(ctx)
		})
	}
	asked.Wait()
	return release.HeirAmong(seen)
}
