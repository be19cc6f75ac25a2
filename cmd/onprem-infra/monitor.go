//go:build remote

package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/healthz"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// monitorBound is how long a round of a monitor's loop may take before its health check fails. It
// is longer than any step of a loop may take.
const monitorBound = time.Minute

// monitorVerbs run in a node's static pods, one beside each daemon, and on the node itself.
func monitorVerbs(std streams) *cobra.Command {
	cmd := group("monitor", "Keep one of a node's daemons configured",
		monitorDHCPCommand(std), monitorDNSCommand(std), monitorHTTPCommand(std),
		monitorIronicCommand(std), monitorLBCommand(std), monitorMDNSCommand(std),
		monitorResolvCommand(std), monitorVIPCommand(std))
	cmd.Long = `monitor follows the host and the cluster's API, and keeps a daemon of this node
configured. The files of 'ignition' and 'render' start it: dhcp, dns, lb and vip run in static pods,
one beside each daemon, mdns in a pod of its own, resolv in a systemd unit; http and ironic run in
the pod of the cluster's Ironic. A daemon continues when its monitor ends, but for that of dhcp.
Logs go to standard error. A monitor in a pod ends with exit code 0 on SIGTERM, and when the cluster
description changes: kubelet then starts it with the new one.`
	return cmd
}

// monitor is what a node's monitors share.
type monitor struct {
	*machine
	kubeconfig string    // empty for the plan's
	role       role.Role // of this node; set by the flag --role
	pulse      healthz.Pulse
}

// monitorFlags gives a verb the flags of a monitor; room is its name in the log.
func monitorFlags(cmd *cobra.Command, room string, std streams) *monitor {
	m := &monitor{machine: newMachine(room, std)}
	m.clusterFlag(cmd)
	return m
}

// kubeconfigFlag adds the flag --kubeconfig.
func (m *monitor) kubeconfigFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.kubeconfig, "kubeconfig", "",
		"the kubelet's credentials; the file may "+
			"appear later (default: the path that the cluster names)")
}

// roleFlag adds the required flag --role; accepted are its values, for the help. noArbiter is why
// the verb refuses an arbiter; empty: it accepts one.
func (m *monitor) roleFlag(cmd *cobra.Command, accepted, noArbiter string) {
	var name string
	cmd.Flags().StringVar(&name, "role", "", "what this node is: "+accepted+" (required)")
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		if m.role, err = nodeRole(name); err == nil && m.role == role.Arbiter && noArbiter != "" {
			return usage("%s", noArbiter)
		}
		return err
	}
}

// nodeRole parses the role of a node.
func nodeRole(name string) (role.Role, error) {
	if r, err := role.Parse(name); err == nil && slices.Contains(role.Nodes(), r) {
		return r, nil
	}
	return "", usage("--role is %q and must be one of: %s", name, words(role.Nodes()))
}

// credentials is the kubeconfig to use in the cluster of p.
func (m *monitor) credentials(p plan.Plan) string {
	if m.kubeconfig != "" {
		return m.kubeconfig
	}
	return p.Kubeconfig
}

// api is the cluster's API for this node. Nodes outside the control plane are many: together they
// could overload the API.
func (m *monitor) api(p plan.Plan) *kube.API {
	api := kube.NewAPI(m.credentials(p), m.log)
	if m.role != role.Master {
		api = api.Crowd()
	}
	return api
}

// later wakes the loop after a time.
func (m *monitor) later(d time.Duration) { time.AfterFunc(d, func() { loop.Wake(m.wake) }) }

// alive is the monitor's own health: its loop makes rounds.
func (m *monitor) alive() error { return m.pulse.Within(monitorBound) }

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
	path, err := filepath.Abs(m.cluster)
	if err != nil {
		m.log.Warn("watch the cluster description", "error", err)
		return
	}
	logged := ""
	m.onChange(ctx, "the cluster description", path, nil, func() bool {
		changed, err := m.changed()
		if changed {
			m.log.Info("the cluster description changed: this program restarts with it",
				"file", m.cluster)
			end()
			return true
		}
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != logged && text != "" {
			m.log.Warn("read the cluster description: the running one stays",
				"file", m.cluster, "error", text)
		}
		logged = text
		return false
	})
}

// untilReplaced calls end when the monitor needs the new kubeconfig of the host. With an empty path
// it does nothing.
func (m *monitor) untilReplaced(ctx context.Context, path string, end func()) {
	if path == "" {
		return
	}
	mounted := kubeconfig.NewMounted(path, m.log)
	m.onChange(ctx, "", "", time.Tick(kubeconfig.CheckInterval), func() bool {
		why := mounted.Obsolete(ctx, time.Now())
		if why != nil {
			m.log.Info("the kubeconfig was replaced: this program restarts with the new one",
				"file", path, "why", why)
			end()
		}
		return why != nil
	})
}

// errRestart ends a monitor that kubelet is to restart.
var errRestart = errors.New("the cluster description or the kubeconfig changed")

// runInPod is runMonitor for a container of a pod. It also ends when the cluster description
// changes or its kubeconfig is replaced, and kubelet restarts it: so a monitor reads both only at
// its start. Before such a restart it releases nothing: without the redirect to a balancer that
// serves, a check would fail and the node would lose the VIP.
func runInPod[S, D any](
	ctx context.Context, m *monitor, kubeconfig string, steps loop.Steps[S, D], every time.Duration,
	watchers func(context.Context),
) error {
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

// runMonitor is runLoop for a node: each round is a heartbeat for the monitor's health check.
func runMonitor[S, D any](
	ctx context.Context, m *monitor, steps loop.Steps[S, D], every time.Duration,
	watchers func(context.Context),
) error {
	observe := steps.Observe
	steps.Observe = func(ctx context.Context) (S, error) {
		m.pulse.Beat()
		return observe(ctx)
	}
	return runLoop(ctx, m.machine, steps, every, func(ctx context.Context) {
		m.reduceMemory(ctx)
		watchers(ctx)
	})
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
