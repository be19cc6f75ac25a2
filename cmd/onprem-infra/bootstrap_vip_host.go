//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/listen"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

const statusFile = election.RunDir + "/" + supervised.StatusFile

// vipHost is the machine as the room sees it.
type vipHost struct {
	nodes  *kube.Watcher
	watch  *vip.Watch
	claims *vip.Claims
	notice *vip.Notice
	ear    *listen.Listener
	starts *starts
}

func (h vipHost) Hear(instances []clash.Instance) { h.ear.Expect(instances) }

func (h vipHost) Air() clash.Air { return h.ear.Snapshot() }

func (h vipHost) Started() []vrrp.InstanceName { return h.starts.all }

func (h vipHost) Start(instances []vrrp.InstanceName) error { return h.starts.add(instances) }

func (vipHost) Links() (addr.Snapshot, error) { return link.Snapshot() }

func (h vipHost) Nodes() []addr.Node {
	nodes, _ := h.nodes.Nodes()
	return nodes
}

// heirs are the control plane nodes that the API told of last, or those kept of an earlier run
// while it has not told of any. It is for one goroutine.
func heirs(nodes func() ([]addr.Node, bool), kept []addr.Node) func() []addr.Node {
	return func() []addr.Node {
		if known, _ := nodes(); len(known) > 0 {
			kept = known
		}
		return kept
	}
}

func (h vipHost) Verdict(ctx context.Context) (release.Verdict, error) { return h.watch.Verdict(ctx) }

func (h vipHost) Claims(ctx context.Context) (map[netip.Addr]vip.Claim, error) {
	return h.claims.Now(ctx)
}

func (vipHost) Status() (supervised.Status, error) {
	return readStatus(statusFile)
}

// forgetStatus drops the word of a supervisor that is no more: a killed one may have said MASTER
// last.
func forgetStatus() error {
	if err := os.Remove(statusFile); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (vipHost) Propose(config keepalived.Config) error { return proposeIn(election.RunDir, config) }

// leaveOwner stands in a request to leave that this room has made. Those of others are theirs to
// take back.
const leaveOwner = "bootstrap/vip\n"

func (vipHost) Leave(now bool) error {
	return requestLeave(filepath.Join(election.RunDir, supervised.LeaveFile), now)
}

func requestLeave(path string, now bool) error {
	text, err := os.ReadFile(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case now && err != nil:
		return file.Write(path, []byte(leaveOwner), 0o644)
	case now || err != nil || string(text) != leaveOwner:
		return nil
	}
	return os.Remove(path)
}

func (h vipHost) Publish(addresses []netip.Addr) { h.notice.Want(addresses) }

// vipBoard is the notice's ConfigMap.
type vipBoard struct {
	api       *kube.API
	namespace string
}

func (b vipBoard) Put(ctx context.Context, data map[string]string) error {
	return b.api.Put(ctx, b.namespace, notice.Bootstrap, func(map[string]string) map[string]string { return data })
}

func (vipHost) Keep(nodes []addr.Node) error { return onHost.keep(nodes) }

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
	nodes  func() []addr.Node
	access *kube.Access
	api    *probe.API
	ironic *probe.HTTP

	log  *slog.Logger
	said string // of the API, logged when it changes
}

func newVIPProber(p plan.Plan, kubeconfig string, nodes func() []addr.Node, log *slog.Logger) *vipProber {
	access := kube.NewAccess(kubeconfig, log)
	return &vipProber{
		plan: p, nodes: nodes, access: access, log: log,
		api:    probe.NewAPI(fmt.Sprintf("localhost:%d", p.Ports[port.API]), access.Client),
		ironic: probe.NewHTTP(fmt.Sprintf("http://localhost:%d/v1", p.Ports[port.Ironic]), localhost.Dial),
	}
}

func (v *vipProber) API(ctx context.Context) health.API {
	state, why := v.api.Probe(ctx)
	if ctx.Err() == nil && why != v.said {
		v.log.Info("local API", "state", state.String(), "why", why)
		v.said = why
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
