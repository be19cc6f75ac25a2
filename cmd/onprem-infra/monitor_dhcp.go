//go:build remote

package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/card"
	"github.com/onprem-infra/onprem-infra/cluster/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/bootserver"
	host "github.com/onprem-infra/onprem-infra/shared/host/bootserver"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/link/hold"
	"github.com/onprem-infra/onprem-infra/shared/host/ordered"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/served"
)

func monitorDHCPCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dhcp",
		Short: "Answer hosts that boot, on the node with the provisioning address",
		Long: `dhcp orders dnsmasq of the container beside it on while this node has the address
that the nodes share on the provisioning network. dnsmasq answers the hosts of the description, and
no others: the packet filter drops the requests of others, and lets answers out only while this
program runs. When the address is gone, and before this program ends, the filter closes first.

It also has the node's card on that network enabled, once after a start, and gives it a link-local
address on a network of IPv6: nothing else may configure the card of a node that has no address of
its own there.`,
		Example: `  onprem-infra monitor dhcp`,
		Args:    cobra.NoArgs,
	}
	m := monitorFlags(cmd, "cluster/dhcp", std)
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, _ string) error {
		if len(p.VIPs.Provisioning) == 0 { // it may have had one until a moment ago
			return errors.Join(errNotShared, endDHCP(ctx))
		}
		return monitorDHCP(ctx, m, p)
	})
	return cmd
}

// endDHCP ends what an earlier run has left on, if anything: dnsmasq, and then the packet filter,
// without which dnsmasq could answer.
func endDHCP(ctx context.Context) error {
	if there, err := file.Exists(layout.Ordered); err != nil || !there {
		return err
	}
	off := &ordered.Daemon{Dir: layout.Ordered}
	closed := host.Fence{}.Close()
	if err := off.Stop(ctx, "dnsmasq"); err != nil {
		return errors.Join(err, closed)
	}
	return host.Fence{}.Remove()
}

var errNotShared = errors.New("the nodes of this cluster share no address on a provisioning " +
	"network: write spec.provisioning with address: one in the cluster description, or do not " +
	"run this program")

func monitorDHCP(ctx context.Context, m *monitor, p plan.Plan) error {
	if err := makeServed(); err != nil {
		return err
	}
	former, err := readForeign()
	if err != nil {
		m.log.Warn("forget the foreign servers of an earlier run", "error", err)
	}
	seen := bootserver.NewSeen(p.Provisioning, provision.Cluster, former)
	node := &bootNode{Host: m.bootHost(seen), plan: p}
	room := bootserver.New(bootserver.Options{Plan: p, Phase: provision.Cluster, Host: node,
		Fence: host.Fence{}, Notifier: &m.status, Now: time.Now,
		Daemon: &ordered.Daemon{Dir: layout.Ordered,
			Probe: host.Alive(served.Server(p.Provisioning, provision.Cluster))}})
	m.meter.Add(room.Metrics)
	m.meter.Add(seen.Metrics)
	steps := stepsOf(room)
	leave := steps.Leave
	steps.Leave = func(ctx context.Context) error {
		node.leaves.Store(true)
		return leave(ctx)
	}
	return runInPod(ctx, m, "", steps, everyRound, func(ctx context.Context) {
		m.serve(ctx, p, p.Ports[port.MonitorDHCP], m.alive)
		m.watchLinks(ctx)
		m.followLog(ctx, room, seen)
		kept := &card.Keeper{Plan: p.Provisioning, Network: bootCards{}, Log: m.log}
		m.watch(ctx, "the card of the provisioning network", kept.Run)
	})
}

// bootNode is a node for the room that answers hosts which boot.
type bootNode struct {
	host.Host
	plan   plan.Plan
	leaves atomic.Bool
}

func (n *bootNode) Orders() (orders.Orders, error) {
	links, err := n.Links()
	return dhcp.Orders(n.plan, links, n.leaves.Load()), err
}

// bootCards are the node's cards, for the room that has one of them ready.
type bootCards struct{}

func (bootCards) Cards() ([]addr.Ethernet, error) { return link.Ethernets() }
func (bootCards) SetUp(on string) error           { return hold.SetUp(on) }
func (bootCards) MakeLinkLocal(on string) error   { return hold.MakeLinkLocal(on) }

// Report reports to no other program: kubelet probes over HTTP.
func (*bootNode) Report(orders.Report) error { return nil }
