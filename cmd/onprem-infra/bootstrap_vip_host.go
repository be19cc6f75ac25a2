//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

const statusFile = vip.RunDir + "/" + supervised.StatusFile

// vipHost is the machine as the room sees it.
type vipHost struct {
	nodes  *kube.Watcher
	watch  *vip.Watch
	claims *vip.Claims
}

func (vipHost) Links() (addr.Snapshot, error) { return link.Snapshot() }

func (h vipHost) Nodes() []addr.Node {
	nodes, _ := h.nodes.Nodes()
	return nodes
}

func (h vipHost) Verdict(ctx context.Context) (vip.Verdict, error) { return h.watch.Verdict(ctx) }

func (h vipHost) Strangers(ctx context.Context) (map[netip.Addr]vip.Stranger, error) {
	return h.claims.Strangers(ctx)
}

func (vipHost) Status() (supervised.Status, error) {
	text, err := os.ReadFile(statusFile)
	if errors.Is(err, fs.ErrNotExist) {
		return supervised.Status{}, nil // the supervisor has not spoken yet
	}
	if err != nil {
		return supervised.Status{}, err
	}
	return supervised.Decode(text)
}

// forgetStatus drops the word of a supervisor that is no more: a killed one may have said MASTER last.
func forgetStatus() error {
	if err := os.Remove(statusFile); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (vipHost) Propose(config []byte) error {
	_, err := file.WriteIfChanged(filepath.Join(vip.RunDir, supervised.CandidateFile), config, 0o644)
	return err
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
	api    *probe.API
	ironic *probe.HTTP
}

func newVIPProber(p plan.Plan, kubeconfig string) vipProber {
	return vipProber{
		api:    probe.NewAPI(p.Ports[port.API], kube.NewAccess(kubeconfig).Client),
		ironic: probe.NewHTTP(fmt.Sprintf("http://localhost:%d/v1", p.Ports[port.Ironic])),
	}
}

func (v vipProber) API(ctx context.Context) health.API {
	state, _ := v.api.Probe(ctx)
	return state
}

func (v vipProber) Ironic(ctx context.Context) bool { return v.ironic.Probe(ctx) == nil }
