//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

func monitorLBCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lb",
		Short: "Keep a control plane node's HAProxy configured",
		Long: `lb writes haproxy.cfg, gives the running HAProxy the control plane's nodes as they come and go, and redirects what comes for the API's
VIP to it for as long as it has a server that works. With --once it writes the files from what this machine knows by itself and ends.`,
		Example: `  onprem-infra monitor lb
  onprem-infra monitor lb --once`,
		Args: cobra.NoArgs,
	}
	m := monitorFlags(cmd, "cluster/lb", std)
	m.kubeconfigFlag(cmd)
	once := cmd.Flags().Bool("once", false, "write the files and end, before HAProxy starts")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		p, header, err := m.load(std)
		if err != nil {
			return err
		}
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		access := kubeconfig.NewAccess(m.credentials(p), m.log)
		if *once {
			room := lb.New(lb.Options{Plan: p, Header: header, Host: lbHost{}, Trust: access, Filter: filter{m.log}})
			closePorts(room, m.log)
			return prepareLB(ctx, m.log, string(haproxy.Run), room)
		}
		return monitorLB(ctx, m, p, header, access)
	}
	return cmd
}

// closePorts has the kernel refuse what comes to the balanced machine config port by itself before
// HAProxy opens it: of IPv6 HAProxy cannot tell whether a connection was redirected there. A kernel
// that cannot do that redirects nothing either, and the API still needs its balancer.
func closePorts(room *lb.Room, log *slog.Logger) {
	if err := room.ClosePorts(); err != nil {
		log.Warn("close the ports that take redirected connections alone", "error", err)
	}
}

// prepareLB writes the first files. That nobody is known yet is no error: HAProxy then balances
// nothing, and the monitor follows what comes.
//
// Before that it closes the directory of HAProxy's sockets, through which anything can be had of
// HAProxy: kubelet has made it for everybody to enter. The sockets are closed themselves, so a
// directory that cannot be is no reason to go without a balancer.
func prepareLB(ctx context.Context, log *slog.Logger, sockets string, room *lb.Room) error {
	if err := os.Chmod(sockets, 0o700); err != nil {
		log.Warn("close the directory of HAProxy's sockets", "error", err)
	}
	return room.Prepare(ctx)
}

func monitorLB(ctx context.Context, m *monitor, p plan.Plan, header string, access *kubeconfig.Access) error {
	p = current(p, m.log) // a migration changes nothing here while it runs: HAProxy is looked at alike under every timing
	nodes := kube.NewAPI(m.credentials(p), m.log).ControlPlane(p.ControlPlaneLabel)
	look := p.Timing.Model.Redirect // HAProxy's end wakes the monitor before
	room := lb.New(lb.Options{Plan: p, Header: header, Host: lbHost{}, Nodes: nodes, Trust: access, Daemon: newHAProxyDaemon(p), Filter: filter{m.log}})
	m.meter.Add(room.Metrics)
	m.meter.Follow("nodes", nodes.LastReceived)
	steps := loop.Steps[lb.Snapshot, lb.Desired]{Observe: room.Observe, Decide: room.Decide, Apply: room.Apply, Leave: room.Leave}
	return runInPod(ctx, m, m.credentials(p), steps, look.Interval, func(ctx context.Context) {
		m.serve(ctx, p, p.Ports[port.MonitorLB], map[string]func() error{"/healthz": m.alive})
		m.watch(ctx, "nodes", func(ctx context.Context) error { return nodes.Run(ctx, m.wake) })
		m.watch(ctx, "HAProxy", func(ctx context.Context) error { return haproxyd.Follow(ctx, haproxy.Run.Socket(), m.wake) })
	})
}

// lbHost is the machine as the room sees it.
type lbHost struct{}

func (lbHost) Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func (lbHost) Write(path string, text []byte, mode fs.FileMode) (changed bool, err error) {
	return file.WriteIfChanged(path, text, mode)
}

func (lbHost) Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// IPv6 looks for what the kernel shows unless it was booted without IPv6. Where it is only switched
// off on the links, sockets can be opened.
func (lbHost) IPv6() bool {
	_, err := os.Stat("/proc/net/if_inet6")
	return err == nil
}

func (lbHost) Now() time.Time { return time.Now() }

// haproxyDaemon is the HAProxy of the pod.
type haproxyDaemon struct {
	health string        // where it says how it does
	answer time.Duration // when its answer is late
}

// newHAProxyDaemon asks it at the port of the loopback, which nobody beyond this host can fill.
func newHAProxyDaemon(p plan.Plan) haproxyDaemon {
	return haproxyDaemon{fmt.Sprintf("http://127.0.0.1:%d/haproxy_monitor", p.Ports[port.LBStats]), p.Timing.Model.Redirect.Timeout}
}

func (haproxyDaemon) Running(ctx context.Context) (string, bool, error) {
	structure, err := haproxyd.Structure(ctx, haproxy.Run.Socket())
	if err != nil && haproxyd.Absent(err) {
		return "", false, nil
	}
	return structure, err == nil, err
}

func (haproxyDaemon) Stats(ctx context.Context) ([]haproxy.Stat, error) {
	text, err := haproxyd.Ask(ctx, haproxy.Run.Socket(), "show stat")
	if err != nil {
		return nil, err
	}
	return haproxy.ParseStats(text)
}

func (haproxyDaemon) Command(ctx context.Context, commands ...string) error {
	_, err := haproxyd.Ask(ctx, haproxy.Run.Socket(), commands...)
	return err
}

func (haproxyDaemon) Reload(ctx context.Context, structure string) (bool, error) {
	return haproxyd.Reload(ctx, haproxy.Run.MasterSocket(), haproxy.Run.Socket(), structure)
}

func (d haproxyDaemon) Healthy(ctx context.Context) (bool, error) {
	return haproxyd.Healthy(ctx, d.health, d.answer)
}

// filter is the kernel's packet filter, with a line for what was found there.
type filter struct{ log *slog.Logger }

func (filter) Ensure(r redirect.Rules) (bool, error) { return nft.Ensure(r) }

func (f filter) RemoveLeftovers() ([]string, error) {
	removed, err := nft.RemoveLeftovers()
	if len(removed) > 0 {
		f.log.Info("removed what another balancer left", "what", removed)
	}
	return removed, err
}
