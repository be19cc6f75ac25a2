//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/systemd"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// apiSeen marks that the API of this machine has been ready once. It outlives a reboot.
const apiSeen = "/var/lib/onprem-infra/api-was-ready"

func runVIPCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vip",
		Short: "Hold the API VIP on the bootstrap machine and give it up in time",
		Long: `vip launches keepalived in a container and keeps it configured. It holds the API VIP above every control plane node, gives it up
when the machine's own API server and Ironic are gone, takes it back when the API returns, and leaves at once on SIGTERM.`,
		Example: `  onprem-infra bootstrap run vip
  journalctl -u onprem-keepalived`,
		Args: cobra.NoArgs,
	}
	m := machineFlags(cmd, "bootstrap/vip", std)
	kubeconfig := cmd.Flags().String("kubeconfig", "/etc/kubernetes/kubeconfig", "credentials for the machine's own API server; may appear later")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		return runVIP(ctx, std, m, *kubeconfig)
	}
	return cmd
}

func runVIP(ctx context.Context, std streams, m *machine, kubeconfig string) error {
	p, header, err := m.load(std)
	if err != nil {
		return err
	}
	keeper, err := m.keeper(ctx)
	if err != nil {
		return err
	}
	release, err := lastRelease()
	if err != nil {
		return err
	}
	nodes := kube.New(kubeconfig, m.log)
	watch := &vip.Watch{Prober: newVIPProber(p, kubeconfig), Remember: rememberAPI, Wake: m.wake}
	room := vip.New(p, header, vipHost{nodes: nodes, watch: watch}, keeper, notifier{}, time.Now)
	steps := loop.Steps[vip.Snapshot, vip.Desired]{Observe: room.Observe, Decide: room.Decide, Apply: room.Apply, Leave: room.Leave}
	return turn(ctx, m, steps, func(ctx context.Context) {
		m.watch(ctx, "links", func(ctx context.Context) error { return link.Watch(ctx, m.wake) })
		m.watch(ctx, "nodes", func(ctx context.Context) error { return nodes.Run(ctx, m.wake) })
		m.watch(ctx, "the local API", func(ctx context.Context) error { return watch.Run(ctx, release) })
		m.watch(ctx, "the supervisor", func(ctx context.Context) error {
			return file.Watch(ctx, []string{filepath.Join(vip.RunDir, supervised.StatusFile)}, m.wake)
		})
	})
}

// lastRelease is where the stop logic goes on: an earlier run may have seen the API ready.
func lastRelease() (vip.Release, error) {
	switch _, err := os.Stat(apiSeen); {
	case err == nil:
		return vip.Resume(), nil
	case errors.Is(err, fs.ErrNotExist):
		return vip.Release{}, nil
	default:
		return vip.Release{}, err
	}
}

func rememberAPI() error {
	if err := os.MkdirAll(filepath.Dir(apiSeen), 0o755); err != nil {
		return err
	}
	return file.Write(apiSeen, nil, 0o644)
}

// vipHost is the machine as the room sees it.
type vipHost struct {
	nodes *kube.Watcher
	watch *vip.Watch
}

func (vipHost) Links() (addr.Snapshot, error) { return link.Snapshot() }

func (h vipHost) Nodes() []addr.Node {
	nodes, _ := h.nodes.Nodes()
	return nodes
}

func (h vipHost) Verdict() (vip.Verdict, bool) { return h.watch.Verdict() }

func (vipHost) Status() (supervised.Status, error) {
	text, err := os.ReadFile(filepath.Join(vip.RunDir, supervised.StatusFile))
	if errors.Is(err, fs.ErrNotExist) {
		return supervised.Status{}, nil // the supervisor has not spoken yet
	}
	if err != nil {
		return supervised.Status{}, err
	}
	return supervised.Decode(text)
}

func (vipHost) Propose(config []byte) error {
	_, err := file.WriteIfChanged(filepath.Join(vip.RunDir, supervised.CandidateFile), config, 0o644)
	return err
}

// vipProber asks what the VIP is held for.
type vipProber struct {
	api    *probe.API
	ironic *probe.HTTP
}

func newVIPProber(p plan.Plan, kubeconfig string) vipProber {
	return vipProber{
		api:    probe.NewAPI(p.Ports[port.API], kube.NewAccess(kubeconfig).Client),
		ironic: probe.NewHTTP(fmt.Sprintf("http://localhost:%d/v1", p.Ports[port.Ironic])),
	}
}

func (v vipProber) API(ctx context.Context) health.API {
	state, _ := v.api.Probe(ctx)
	return state
}

func (v vipProber) Ironic(ctx context.Context) bool { return v.ironic.Probe(ctx) == nil }

// notifier tells systemd.
type notifier struct{}

func (notifier) Ready() error             { return systemd.Ready() }
func (notifier) Status(text string) error { return systemd.Status(text) }
