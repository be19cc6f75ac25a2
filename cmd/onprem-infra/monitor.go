//go:build remote

package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/healthz"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// monitorBound is how long a monitor's loop may stand before kubelet hears of it. It is longer than any step of a loop may take.
const monitorBound = time.Minute

// monitorVerbs run in a node's static pods, one beside each daemon, and on the node itself.
func monitorVerbs(std streams) *cobra.Command {
	return group("monitor", "Keep one of a node's daemons configured", monitorDNSCommand(std), monitorLBCommand(std), monitorResolvCommand(std),
		monitorVIPCommand(std))
}

// monitor is what a node's monitors share.
type monitor struct {
	machine
	kubeconfig string // empty for the plan's
	node       string // the role of this node
	pulse      healthz.Pulse
}

// monitorFlags gives a verb the flags of a monitor; room is its name in the log.
func monitorFlags(cmd *cobra.Command, room string, std streams) *monitor {
	m := &monitor{}
	m.log, m.wake = slog.New(slog.NewTextHandler(std.err, nil)).With("room", room), loop.NewWake()
	m.clusterFlag(cmd)
	cmd.Flags().StringVar(&m.kubeconfig, "kubeconfig", "", "the kubelet's credentials; may appear later (default: the cluster's)")
	return m
}

// roleFlag gives a verb the flag --role, which it needs.
func (m *monitor) roleFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.node, "role", "", "what this node is: master, worker or arbiter (required)")
}

// role is what the flag says.
func (m *monitor) role() (role.Role, error) {
	if r, err := role.Parse(m.node); err == nil && slices.Contains(role.Nodes(), r) {
		return r, nil
	}
	return "", usage("--role is %q and must be one of %v", m.node, role.Nodes())
}

// credentials is the kubeconfig to use in the cluster of p.
func (m *monitor) credentials(p plan.Plan) string {
	if m.kubeconfig != "" {
		return m.kubeconfig
	}
	return p.Kubeconfig
}

// later has the loop turn again after a time.
func (m *monitor) later(d time.Duration) { time.AfterFunc(d, func() { loop.Wake(m.wake) }) }

// alive is the monitor's own health: its loop turns.
func (m *monitor) alive() error { return m.pulse.Within(monitorBound) }

// serve answers kubelet at the monitor's own port until ctx ends; a port that is taken is tried again, as a former monitor may have it yet.
func (m *monitor) serve(ctx context.Context, port uint16, checks map[string]func() error) {
	m.watch(ctx, "health", func(ctx context.Context) error { return healthz.Serve(ctx, port, checks) })
}

// runMonitor turns a room's loop until ctx ends, and ends its watchers after it: the first thing at a stop is to leave.
func runMonitor[S, D any](ctx context.Context, m *monitor, steps loop.Steps[S, D], every time.Duration, watchers func(context.Context)) error {
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	watchers(watching)
	observe := steps.Observe
	steps.Observe = func(ctx context.Context) (S, error) {
		m.pulse.Beat()
		return observe(ctx)
	}
	err := loop.Run(ctx, steps, m.wake, every, m.log)
	cancel()
	m.watchers.Wait()
	if err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	return nil
}
