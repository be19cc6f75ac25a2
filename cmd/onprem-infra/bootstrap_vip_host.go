//go:build remote

package main

import (
	"context"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/bootstrap/vip/announce"
	"github.com/onprem-infra/onprem-infra/bootstrap/vip/conflict"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/listen"
	"github.com/onprem-infra/onprem-infra/shared/host/memory"
	"github.com/onprem-infra/onprem-infra/shared/host/rundir"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// runDir is where the bootstrap machine's programs and keepalived's supervisor communicate.
const runDir = rundir.Dir(supervised.RunDir)

// onHost is what outlives the program.
var onHost = memory.Bootstrap{State: "/var/lib/onprem-infra", Run: supervised.RunDir}

// vipHost is the machine as the room sees it.
type vipHost struct {
	link.Network
	rundir.Dir
	memory.Bootstrap
	*memory.Starts
	*vip.Watch
	*announce.Announcer

	nodes     *kube.Watcher
	conflicts *conflict.Detector
	listener  *listen.Listener
}

func (h vipHost) Listen(instances []clash.Instance) { h.listener.Expect(instances) }

func (h vipHost) OtherRouters() clash.Snapshot { return h.listener.Snapshot() }

func (h vipHost) Nodes() []addr.Candidate {
	nodes, _ := h.nodes.Nodes()
	return nodes
}

// heirs are the control plane nodes that the API named last, or those kept from an earlier run
// until it names any. It is for one goroutine.
func heirs(nodes func() ([]addr.Candidate, bool), kept []addr.Candidate) func() []addr.Candidate {
	return func() []addr.Candidate {
		if known, _ := nodes(); len(known) > 0 {
			kept = known
		}
		return kept
	}
}

func (h vipHost) Conflicts(ctx context.Context) (map[netip.Addr]conflict.Finding, error) {
	return h.conflicts.Findings(ctx)
}

// leaveOwner marks a request to release the VIPs that this room has made.
const leaveOwner = "bootstrap/vip\n"

func (vipHost) Release(now bool) error { return runDir.SetLeave(leaveOwner, now) }

// bootstrapObject is the ConfigMap of the announced addresses.
type bootstrapObject struct {
	api       *kube.API
	namespace string
}

func (b bootstrapObject) Put(ctx context.Context, data map[string]string) error {
	return b.api.Put(ctx, b.namespace, notice.Bootstrap,
		func(map[string]string) map[string]string { return data })
}
