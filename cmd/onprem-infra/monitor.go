//go:build remote

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/healthz"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// monitorBound is how long a monitor's loop may stand before kubelet hears of it. It is longer than
// any step of a loop may take.
const monitorBound = time.Minute

// monitorVerbs run in a node's static pods, one beside each daemon, and on the node itself.
func monitorVerbs(std streams) *cobra.Command {
	cmd := group("monitor", "Keep one of a node's daemons configured", monitorDNSCommand(std), monitorLBCommand(std), monitorMDNSCommand(std), monitorResolvCommand(std),
		monitorVIPCommand(std))
	cmd.Long = `monitor follows the host and the cluster's API, and keeps a daemon of this node configured. It is started by what 'ignition' and 'render'
have put on the node: dns, lb and vip run in static pods, one beside each daemon, mdns in a pod of its own, resolv in a systemd unit. A daemon
lives on when its monitor ends. Logs go to standard error. Those in pods end with exit code 0 when they are told to, and when the cluster's file holds something
new: kubelet then starts them with that.`
	return cmd
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
	m.meter = newMeter(room)
	m.clusterFlag(cmd)
	return m
}

// kubeconfigFlag gives a verb that asks the API the flag --kubeconfig.
func (m *monitor) kubeconfigFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.kubeconfig, "kubeconfig", "", "the kubelet's credentials; the file may appear later (default: the path that the cluster names)")
}

// roleFlag gives a verb the flag --role, which it needs; roles are those that it serves, in words.
func (m *monitor) roleFlag(cmd *cobra.Command, roles string) {
	cmd.Flags().StringVar(&m.node, "role", "", "what this node is: "+roles+" (required)")
}

// role is what the flag says.
func (m *monitor) role() (role.Role, error) {
	if r, err := role.Parse(m.node); err == nil && slices.Contains(role.Nodes(), r) {
		return r, nil
	}
	return "", usage("--role is %q and must be one of: %s", m.node, words(role.Nodes()))
}

// credentials is the kubeconfig to use in the cluster of p.
func (m *monitor) credentials(p plan.Plan) string {
	if m.kubeconfig != "" {
		return m.kubeconfig
	}
	return p.Kubeconfig
}

// api is the cluster's, for what a node of a role follows there. Nodes that are not of the control
// plane are a crowd.
func (m *monitor) api(p plan.Plan, r role.Role) *kube.API {
	api := kube.NewAPI(m.credentials(p), m.log)
	if r != role.Master {
		api = api.Crowd()
	}
	return api
}

// later has the loop turn again after a time.
func (m *monitor) later(d time.Duration) { time.AfterFunc(d, func() { loop.Wake(m.wake) }) }

// alive is the monitor's own health: its loop turns.
func (m *monitor) alive() error { return m.pulse.Within(monitorBound) }

// serve answers kubelet at the monitor's own port until ctx ends, and whoever asks for its metrics;
// a port that is taken is tried again, as a former monitor may have it yet.
func (m *monitor) serve(ctx context.Context, p plan.Plan, port uint16, checks map[string]func() error) {
	m.watch(ctx, "health", func(ctx context.Context) error { return healthz.Serve(ctx, port, checks, m.pages()) })
	m.publish(ctx, p, port)
}

// changed says whether the cluster has decided something else since load. What it cannot be told is
// an error: a file that is gone, or that no plan can be made of.
func (m *monitor) changed() (bool, error) {
	text, err := readFile(m.cluster)
	if err != nil || bytes.Equal(text, m.text) {
		return false, err
	}
	var findings strings.Builder
	cluster, err := parseCluster(streams{err: &findings}, &input{}, m.cluster, text)
	if err == nil {
		_, err = plan.Compile(cluster)
	} else if findings.Len() > 0 {
		err = errors.New(strings.TrimSpace(findings.String()))
	}
	return err == nil, err
}

// untilChanged calls end when the cluster has decided something else. A new file that is wrong is
// said, and what was decided before stays.
func (m *monitor) untilChanged(ctx context.Context, end func()) {
	look := loop.NewWake()
	m.watch(ctx, "what the cluster decided", func(ctx context.Context) error {
		path, err := filepath.Abs(m.cluster)
		if err != nil {
			return err
		}
		return file.Watch(ctx, []string{path}, look)
	})
	m.watchers.Go(func() {
		said := ""
		for {
			select {
			case <-ctx.Done():
				return
			case <-look:
			}
			anew, err := m.changed()
			if anew {
				m.log.Info("the cluster has decided something else: this program ends, and begins anew with that", "file", m.cluster)
				end()
				return
			}
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != said && text != "" {
				m.log.Warn("read what the cluster decided: what it had decided before stays in force", "file", m.cluster, "error", text)
			}
			said = text
		}
	})
}

// runInPod is runMonitor for a container of a pod: it ends in order when the cluster has decided
// something else, or when the kubeconfig that it was started with has been replaced, and kubelet
// starts it anew. So there is one way by which a monitor learns what the cluster is. What it holds
// it leaves to the one that follows: given back for that time, the redirect to a balancer that
// serves would cost a check and the VIP.
func runInPod[S, D any](ctx context.Context, m *monitor, kubeconfig string, steps loop.Steps[S, D], every time.Duration, watchers func(context.Context)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if leave := steps.Leave; leave != nil {
		steps.Leave = func(last context.Context) error {
			if errors.Is(context.Cause(ctx), errAnew) {
				return nil
			}
			return leave(last)
		}
	}
	return runMonitor(ctx, m, steps, every, func(ctx context.Context) {
		m.untilChanged(ctx, func() { end(errAnew) })
		m.untilReplaced(ctx, kubeconfig, func() { end(errAnew) })
		watchers(ctx)
	})
}

// errAnew ends a monitor that begins anew.
var errAnew = errors.New("there is another cluster description or kubeconfig")

// runMonitor turns a room's loop until ctx ends, and ends its watchers after it: the first thing at
// a stop is to leave.
func runMonitor[S, D any](ctx context.Context, m *monitor, steps loop.Steps[S, D], every time.Duration, watchers func(context.Context)) error {
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m.spare(watching)
	watchers(watching)
	observe := steps.Observe
	steps.Observe = func(ctx context.Context) (S, error) {
		m.pulse.Beat()
		return observe(ctx)
	}
	err := loop.Run(ctx, metrics.Count(steps, m.meter), m.wake, every, m.log)
	cancel()
	m.watchers.Wait()
	if err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	return nil
}

// started is when a monitor has done what it does but once: the API has named the nodes, and every
// check has been made.
const started = 20 * time.Second

// spare has a monitor need little. It does one small thing after another, and on several processors
// the runtime would wake threads to look for more. And what only its start has needed of its
// program is no memory of its own any more.
func (m *monitor) spare(ctx context.Context) {
	runtime.GOMAXPROCS(1)
	m.watchers.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(started):
		}
		if _, err := proc.Unmap(); err != nil {
			m.log.Warn("need less memory", "error", err)
		}
	})
}
