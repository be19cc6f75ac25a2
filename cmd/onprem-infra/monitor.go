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

// monitorBound is how long a round of a monitor's loop may take before its health check fails. It
// is longer than any step of a loop may take.
const monitorBound = time.Minute

// monitorVerbs run in a node's static pods, one beside each daemon, and on the node itself.
func monitorVerbs(std streams) *cobra.Command {
	cmd := group("monitor", "Keep one of a node's daemons configured", monitorDNSCommand(std), monitorLBCommand(std), monitorMDNSCommand(std), monitorResolvCommand(std),
		monitorVIPCommand(std))
	cmd.Long = `monitor follows the host and the cluster's API, and keeps a daemon of this node configured. The files of 'ignition' and 'render' start it:
dns, lb and vip run in static pods, one beside each daemon, mdns in a pod of its own, resolv in a systemd unit. A daemon continues when its monitor
ends. Logs go to standard error. A monitor in a pod ends with exit code 0 on SIGTERM, and when the cluster description changes: kubelet then starts
it with the new one.`
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

// kubeconfigFlag adds the flag --kubeconfig.
func (m *monitor) kubeconfigFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.kubeconfig, "kubeconfig", "", "the kubelet's credentials; the file may appear later (default: the path that the cluster names)")
}

// roleFlag adds the required flag --role; roles are the accepted values, for the help.
func (m *monitor) roleFlag(cmd *cobra.Command, roles string) {
	cmd.Flags().StringVar(&m.node, "role", "", "what this node is: "+roles+" (required)")
}

// role parses the flag --role.
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

// api is the cluster's API for a node of a role. Nodes outside the control plane are many: together
// they could overload the API.
func (m *monitor) api(p plan.Plan, r role.Role) *kube.API {
	api := kube.NewAPI(m.credentials(p), m.log)
	if r != role.Master {
		api = api.Crowd()
	}
	return api
}

// later wakes the loop after a time.
func (m *monitor) later(d time.Duration) { time.AfterFunc(d, func() { loop.Wake(m.wake) }) }

// alive is the monitor's own health: its loop makes rounds.
func (m *monitor) alive() error { return m.pulse.Within(monitorBound) }

// serve serves the health checks and the metrics at the monitor's own port until ctx ends. It
// retries while the port is in use: a former monitor may still have it.
func (m *monitor) serve(ctx context.Context, p plan.Plan, port uint16, checks map[string]func() error) {
	m.watch(ctx, "health", func(ctx context.Context) error { return healthz.Serve(ctx, port, checks, m.pages()) })
	m.publish(ctx, p, port)
}

// changed reports whether the cluster description has changed since load. It fails if the file is
// gone or gives no plan.
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

// untilChanged calls end when the cluster description changes. It logs a description that is wrong;
// the running one then stays.
func (m *monitor) untilChanged(ctx context.Context, end func()) {
	wake := loop.NewWake()
	m.watch(ctx, "the cluster description", func(ctx context.Context) error {
		path, err := filepath.Abs(m.cluster)
		if err != nil {
			return err
		}
		return file.Watch(ctx, []string{path}, wake)
	})
	m.watchers.Go(func() {
		logged := ""
		for {
			select {
			case <-ctx.Done():
				return
			case <-wake:
			}
			changed, err := m.changed()
			if changed {
				m.log.Info("the cluster description changed: this program restarts with it", "file", m.cluster)
				end()
				return
			}
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != logged && text != "" {
				m.log.Warn("read the cluster description: the running one stays", "file", m.cluster, "error", text)
			}
			logged = text
		}
	})
}

// runInPod is runMonitor for a container of a pod. It also ends when the cluster description
// changes or its kubeconfig is replaced, and kubelet restarts it: so a monitor reads both only at
// its start. Before such a restart it releases nothing: without the redirect to a balancer that
// serves, a check would fail and the node would lose the VIP.
func runInPod[S, D any](ctx context.Context, m *monitor, kubeconfig string, steps loop.Steps[S, D], every time.Duration, watchers func(context.Context)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if leave := steps.Leave; leave != nil {
		steps.Leave = func(last context.Context) error {
			if errors.Is(context.Cause(ctx), errRestart) {
				return nil
			}
			return leave(last)
		}
	}
	return runMonitor(ctx, m, steps, every, func(ctx context.Context) {
		m.untilChanged(ctx, func() { end(errRestart) })
		m.untilReplaced(ctx, kubeconfig, func() { end(errRestart) })
		watchers(ctx)
	})
}

// errRestart ends a monitor that kubelet is to restart.
var errRestart = errors.New("the cluster description or the kubeconfig changed")

// runMonitor runs a room's loop until ctx ends, and ends its watchers after it: at a stop the room
// leaves first.
func runMonitor[S, D any](ctx context.Context, m *monitor, steps loop.Steps[S, D], every time.Duration, watchers func(context.Context)) error {
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m.reduceMemory(watching)
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

// startup is how long the start of a monitor takes: the API has listed the nodes, and every check
// has been made.
const startup = 20 * time.Second

// reduceMemory keeps a monitor small. Its work is sequential: with several processors the runtime
// would wake threads for nothing. After the start it returns the memory that only the start needed.
func (m *monitor) reduceMemory(ctx context.Context) {
	runtime.GOMAXPROCS(1)
	m.watchers.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(startup):
		}
		if _, err := proc.Unmap(); err != nil {
			m.log.Warn("release startup memory", "error", err)
		}
	})
}
