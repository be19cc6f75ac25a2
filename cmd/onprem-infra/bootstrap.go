//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/daemon"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/host/systemd"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics/program"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// everyRound is the interval of a room's rounds while no wake-up comes.
const everyRound = time.Second

// hostVerbs are the verbs that run on a host.
func hostVerbs(std streams) []*cobra.Command {
	run := group("run", "Run a part of the bootstrap machine, as its systemd units do",
		runVIPCommand(std), runSpeakerCommand(std), runDNSCommand(std), runAddressCommand(std),
		runHTTPCommand(std),
		runIronicCommand(std), runDHCPCommand(std), runProvisionCommand(std))
	return []*cobra.Command{group("bootstrap", "What runs on the bootstrap machine", run),
		monitorVerbs(std), checkCommand(std), nodeIPCommand(std),
		statusCommand(std), doctorCommand(std), vipVerbs(std), describeCommand(std)}
}

// machine is what the rooms on a host share: paths, sockets and watchers.
type machine struct {
	cluster   string       // cluster.json
	named     func() bool  // whether the flag -c names it; may be nil
	text      []byte       // the content of cluster.json
	described spec.Cluster // parsed by load
	socket    string       // podman's
	authFile  string
	pullLock  string // see puller
	inPod     bool   // kubelet runs the daemon, in this program's pod

	static string // the manifest of a static pod that replaces this program; empty in that pod
	stop   func() // stops the program in order; set by running

	log      *slog.Logger
	wake     chan struct{}
	status   unitStatus
	meter    *program.Meter
	watchers sync.WaitGroup
}

// roomLog is the log of a room's program.
func roomLog(room string, std streams) *slog.Logger {
	return slog.New(slog.NewTextHandler(std.err, nil)).With("room", room)
}

func newMachine(room string, std streams) *machine {
	return &machine{
		log: roomLog(room, std), wake: loop.NewWake(), meter: newMeter(room),
		status: unitStatus{send: systemd.Status},
	}
}

// machineFlags gives a verb the flags of a program of the bootstrap machine; room is its name in
// the log, daemon what it runs. The manifest is that of a static pod with the same daemon.
func machineFlags(cmd *cobra.Command, std streams, room, daemon, manifest string) *machine {
	m := containerFlags(cmd, std, room)
	cmd.Flags().BoolVar(&m.inPod, "in-pod", false,
		"kubelet runs "+daemon+", in this program's pod: launch none by podman")
	cmd.PreRun = func(*cobra.Command, []string) {
		if !m.inPod {
			m.static = manifest
		}
	}
	return m
}

// containerFlags are those of a program that launches a container, which no static pod replaces.
func containerFlags(cmd *cobra.Command, std streams, room string) *machine {
	m := newMachine(room, std)
	m.clusterFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&m.socket, "podman", "unix:///run/podman/podman.sock", "podman's socket")
	flags.StringVar(&m.authFile, "auth-file", "/root/.docker/config.json",
		"registry credentials; may be absent")
	return m
}

// clusterFlag gives a verb that runs on a host the flag -c.
func (m *machine) clusterFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&m.cluster, "cluster", "c", plan.Path, "the host's cluster description")
	m.named = func() bool { return cmd.Flags().Changed("cluster") }
}

// load compiles the plan from the host's cluster.json, and returns the header line for files that
// are rendered from it. The plan has the migration that this node has yet to complete, also if the
// file does not. A missing file is wrong usage only if the flag -c names it.
func (m *machine) load(std streams) (plan.Plan, string, error) {
	text, err := readFile(m.cluster)
	if errors.Is(err, fs.ErrNotExist) && m.named != nil && m.named() {
		return plan.Plan{}, "", usage("there is no file %s: name one that exists", m.cluster)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return plan.Plan{}, "",
			fmt.Errorf("this host has no %s, so it is not part of a cluster: run the command on "+
				"a host that is, or name such a file with -c", m.cluster)
	}
	if err != nil {
		return plan.Plan{}, "", err
	}
	cluster, err := parseCluster(std, &input{}, m.cluster, text)
	if err != nil {
		return plan.Plan{}, "", err
	}
	p, err := compile(cluster)
	if err != nil {
		return plan.Plan{}, "", err
	}
	if m.cluster == plan.Path { // and not the description of another cluster
		p = node.New("").Resume(p, cluster)
	}
	m.text, m.described = text, cluster
	m.describe(p)
	return p, plan.Header(text), nil
}

// keeper keeps one container. Its probe and preparation may be nil.
func (m *machine) keeper(probe daemon.Probe, prepare func() error) *daemon.Keeper {
	return daemon.New(daemon.Options{
		Engine:   m.puller(),
		Open:     func(pid int) (daemon.Process, error) { return proc.Open(pid) },
		Find:     func(command []string) (daemon.Process, error) { return proc.First(command) },
		Wake:     m.wake,
		Log:      m.log,
		AuthFile: m.authFile,
		Probe:    probe,
		Prepare:  prepare,
	})
}

// runRoom is runLoop for the bootstrap machine: it reports the room's state to systemd.
func runRoom[S, D any](
	ctx context.Context, m *machine, steps loop.Steps[S, D], watchers func(context.Context),
) error {
	defer context.AfterFunc(ctx, func() {
		if err := systemd.Stopping(); err != nil {
			m.log.Warn("stop", "error", err)
		}
	})()
	steps = reportSteps(steps, &m.status)
	return runLoop(ctx, m, steps, everyRound, func(ctx context.Context) {
		watchers(ctx)
		if m.static != "" {
			m.leaveToStatic(ctx)
		}
	})
}

// leaveToStatic stops the program if a static pod's manifest for its daemon appears: there would be
// dual holders of the VIP, or two servers on port 53. The room releases its VIP first, and a
// condition of the program's unit prevents another start.
func (m *machine) leaveToStatic(ctx context.Context) {
	m.onChange(ctx, "static pods", m.static, time.Tick(everyRound), func() bool {
		there, err := file.Exists(m.static)
		if err != nil || !there {
			return false
		}
		m.log.Info("leave", "why", "kubelet runs the daemon from "+m.static)
		m.stop()
		return true
	})
}
