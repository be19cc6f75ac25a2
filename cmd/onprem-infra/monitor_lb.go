//go:build remote

package main

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/lb"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	haproxyd "github.com/onprem-infra/onprem-infra/shared/host/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

func monitorLBCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lb",
		Short: "Keep a control plane node's HAProxy configured",
		Long: `lb writes haproxy.cfg, keeps the backend servers of the running HAProxy equal to the
control plane nodes, and redirects connections to the API VIP to HAProxy while it has a healthy
server. If hosts are provisioned without a provisioning network, it does the same for the cluster's
Ironic: HAProxy passes connections for the VIP's ports 6385 and 6183 to the pod that is ready.
With --once it writes the files from what this machine knows without the API, and ends.`,
		Example: `  onprem-infra monitor lb
  onprem-infra monitor lb --once`,
		Args: cobra.NoArgs,
	}
	m := monitorFlags(cmd, "cluster/lb", std)
	m.kubeconfigFlag(cmd)
	once := cmd.Flags().Bool("once", false, "write the files and end, before HAProxy starts")
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, header string) error {
		o := lb.Options{Plan: p, Header: header, Host: lbHost{},
			Filter: services.Filter{Log: m.log}}
		o.Trust = kubeconfig.NewAccess(m.credentials(p), m.log)
		if *once {
			room := lb.New(o)
			closePorts(room, m.log)
			return prepareLB(ctx, m.log, string(haproxy.Run), room)
		}
		return monitorLB(ctx, m, o)
	})
	return cmd
}

// closePorts makes the kernel refuse direct connections to the balanced machine config port before
// HAProxy opens it: HAProxy cannot recognise a redirected connection of IPv6. A failure is only
// logged: such a kernel redirects nothing, and the API still needs its balancer.
func closePorts(room *lb.Room, log *slog.Logger) {
	if err := room.ClosePorts(); err != nil {
		log.Warn("close the ports that accept only redirected connections", "error", err)
	}
}

// prepareLB writes the first files. Without a known member HAProxy balances nothing until the
// monitor adds some.
//
// Before that it closes the directory of HAProxy's sockets, which control all of HAProxy: kubelet
// made it open to every user. A failure is only logged, as the sockets have modes of their own.
func prepareLB(ctx context.Context, log *slog.Logger, sockets string, room *lb.Room) error {
	if err := os.Chmod(sockets, 0o700); err != nil {
		log.Warn("close the directory of HAProxy's sockets", "error", err)
	}
	return room.Prepare(ctx)
}

func monitorLB(ctx context.Context, m *monitor, o lb.Options) error {
	// A running migration changes nothing here: the probe of HAProxy is the same under every
	// timing.
	p := node.Current(o.Plan, m.log)
	api := kube.NewAPI(m.credentials(p), m.log)
	nodes := api.ControlPlane(p.ControlPlaneLabel)
	every := p.Timing.Model.Redirect.Interval // HAProxy's exit wakes the monitor earlier
	o.Plan, o.Nodes, o.Daemon = p, nodes, services.NewHAProxy(p)
	var pods *kube.Pods // of Ironic
	if p.BalancesIronic() {
		pods = api.Pods(p.Flavour().Ironic.Service)
		o.Pods = pods
		m.meter.Follow("ironic", pods.LastReceived)
	}
	room := lb.New(o)
	m.meter.Add(room.Metrics)
	m.meter.Follow("nodes", nodes.LastReceived)
	steps := stepsOf(room)
	steps.Observe = func(ctx context.Context) (lb.Snapshot, error) {
		begin := time.Now()
		s, err := room.Observe(ctx)
		// After a timeout the next probe follows at once, after other failures in the next round.
		if s.Late && time.Since(begin) >= p.Timing.Model.Redirect.Timeout {
			loop.Wake(m.wake)
		}
		return s, err
	}
	return runInPod(ctx, m, m.credentials(p), steps, every, func(ctx context.Context) {
		m.serve(ctx, p, p.Ports[port.MonitorLB], m.alive)
		m.watchAPI(ctx, "nodes", nodes)
		if pods != nil {
			m.watchAPI(ctx, "Ironic's pods", pods)
		}
		m.watch(ctx, "HAProxy", func(ctx context.Context) error {
			return haproxyd.Follow(ctx, haproxy.Run.Socket(), m.wake)
		})
	})
}

// lbHost is the machine as the room sees it.
type lbHost struct{}

func (lbHost) Read(path string) ([]byte, error) { return file.Read(path) }

func (lbHost) Write(path string, text []byte, mode fs.FileMode) (changed bool, err error) {
	return file.WriteIfChanged(path, text, mode)
}

func (lbHost) Remove(path string) error { return file.Remove(path) }

// IPv6 reports whether the kernel was booted with IPv6. Sockets can be opened even if the links
// have it switched off.
func (lbHost) IPv6() bool {
	_, err := os.Stat("/proc/net/if_inet6")
	return err == nil
}

func (lbHost) Now() time.Time { return time.Now() }
