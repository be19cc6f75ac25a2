//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/daemon"
	"github.com/onprem-infra/onprem-infra/shared/host/podman"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/host/systemd"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// everyRound is the interval of a room's rounds while no wake-up comes.
const everyRound = time.Second

// hostVerbs are the verbs that run on a host.
func hostVerbs(std streams) []*cobra.Command {
	run := group("run", "Run a part of the bootstrap machine, as its systemd units do", runVIPCommand(std), runDNSCommand(std))
	return []*cobra.Command{group("bootstrap", "What runs on the bootstrap machine", run), monitorVerbs(std), checkCommand(std), nodeIPCommand(std),
		statusCommand(std), doctorCommand(std), vipVerbs(std)}
}

// machine is what the rooms on a host share: paths, sockets and watchers.
type machine struct {
	cluster   string       // cluster.json
	named     func() bool  // whether the flag -c names it; may be nil
	text      []byte       // the content of cluster.json
	described spec.Cluster // parsed by load
	socket    string       // podman's
	authFile  string

	static string // the manifest of a static pod that replaces this program; empty in that pod
	stop   func() // stops the program in order

	log      *slog.Logger
	wake     chan struct{}
	status   unitStatus
	meter    *metrics.Meter
	watchers sync.WaitGroup
}

func machineFlags(cmd *cobra.Command, room string, std streams) *machine {
	m := &machine{
		log:    slog.New(slog.NewTextHandler(std.err, nil)).With("room", room),
		wake:   loop.NewWake(),
		status: unitStatus{send: systemd.Status},
		meter:  newMeter(room),
	}
	m.clusterFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&m.socket, "podman", "unix:///run/podman/podman.sock", "podman's socket")
	flags.StringVar(&m.authFile, "auth-file", "/root/.docker/config.json", "registry credentials; may be absent")
	return m
}

// clusterFlag gives a verb that runs on a host the flag -c.
func (m *machine) clusterFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&m.cluster, "cluster", "c", plan.Path, "the host's cluster description")
	m.named = func() bool { return cmd.Flags().Changed("cluster") }
}

// load compiles the plan from the host's cluster.json, and returns the header line for files that
// are rendered from it. A missing file is wrong usage only if the flag -c names it.
func (m *machine) load(std streams) (plan.Plan, string, error) {
	text, err := readFile(m.cluster)
	if errors.Is(err, fs.ErrNotExist) && m.named != nil && m.named() {
		return plan.Plan{}, "", usage("there is no file %s: name one that exists", m.cluster)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return plan.Plan{}, "", fmt.Errorf("this host has no %s, so it is not part of a cluster: run the command on a host that is, or name such a file with -c", m.cluster)
	}
	if err != nil {
		return plan.Plan{}, "", err
	}
	cluster, err := parseCluster(std, &input{}, m.cluster, text)
	if err != nil {
		return plan.Plan{}, "", err
	}
	p, err := plan.Compile(cluster)
	if err != nil {
		return plan.Plan{}, "", negative(err)
	}
	m.text, m.described = text, cluster
	m.describe(p)
	return p, plan.Header(text), nil
}

// keeper keeps one container. Its probe and preparation may be nil.
func (m *machine) keeper(probe daemon.Probe, prepare func() error) *daemon.Keeper {
	return daemon.New(daemon.Options{
		Engine:   podman.New(m.socket),
		Open:     func(pid int) (daemon.Process, error) { return proc.Open(pid) },
		Find:     func(command []string) (daemon.Process, error) { return proc.First(command) },
		Wake:     m.wake,
		Log:      m.log,
		AuthFile: m.authFile,
		Probe:    probe,
		Prepare:  prepare,
	})
}

// watch runs a watcher until ctx ends, and starts it again a second after a failure. A repeated
// error is logged once.
func (m *machine) watch(ctx context.Context, what string, run func(context.Context) error) {
	m.watchers.Go(func() {
		var reported loop.News
		for {
			err := run(ctx)
			if ctx.Err() != nil {
				return
			}
			if text := fmt.Sprint(err); reported.Is(text) {
				m.log.Warn("watch "+what, "error", text)
			}
			loop.Wake(m.wake) // a change may have been missed
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
	})
}

// untilStopped is a context that ends at SIGTERM or SIGINT.
func untilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
}

// runRoom runs a room's loop until ctx ends, and its watchers until after the loop, whose last step
// releases the VIP.
func runRoom[S, D any](ctx context.Context, m *machine, steps loop.Steps[S, D], watchers func(context.Context)) error {
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	watchers(watching)
	if m.static != "" {
		m.leaveToStatic(watching)
	}
	defer context.AfterFunc(ctx, func() {
		if err := systemd.Stopping(); err != nil {
			m.log.Warn("stop", "error", err)
		}
	})()
	err := loop.Run(ctx, metrics.Count(reportSteps(steps, &m.status), m.meter), m.wake, everyRound, m.log)
	cancel()
	m.watchers.Wait()
	if err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	return nil
}
