//go:build remote

package main

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/daemon"
	"github.com/onprem-infra/onprem-infra/bootstrap/speaker"
	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/host/inpod"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/meter"
	"github.com/onprem-infra/onprem-infra/shared/host/recorder"
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

var errNotRouted = errors.New("the hosts of this cluster announce no VIP to routers: set " +
	"vipManagement and bgp in the cluster description, or do not run this program")

func runSpeakerCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "speaker",
		Short: "Announce the API VIP from the bootstrap machine by BGP and hand it over in time",
		Long: `speaker launches FRR in a container and keeps it configured. It announces the API
VIP to the routers of the machine's rack by a shorter path than every control plane node,
withdraws it when Ironic is gone and the machine's own API server is gone too, and hands it over
when that announces its shutdown while a control plane node is ready: routers move to the nodes
before the path is withdrawn. It announces again when the API returns, and hands over on
SIGTERM. A VIP to which routers know a path before it was announced from here is left alone until
that path is gone. If the other host is not to count, pass --assume-free to the program: systemctl
edit onprem-speaker, and write

  [Service]
  ExecStart=
  ExecStart=/usr/local/bin/onprem-infra bootstrap run speaker --assume-free VIP`,
		Example: `  onprem-infra bootstrap run speaker
  onprem-infra bootstrap run speaker --assume-free 198.51.100.5
  journalctl -u onprem-speaker`,
		Args: cobra.NoArgs,
	}
	m := machineFlags(cmd, std, "bootstrap/speaker", "FRR", inspect.FRRManifest)
	kubeconfig := cmd.Flags().String("kubeconfig", "/etc/kubernetes/kubeconfig",
		"credentials for the machine's own API server; may appear later")
	free := cmd.Flags().StringArray("assume-free", nil, "an API VIP that no other host announces, "+
		"whichever paths routers have; may be given more than once")
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, _ string) error {
		if p.BGP == nil {
			return errNotRouted
		}
		assumed, err := assumedFree(announcing.VIPs(p, role.Bootstrap), *free)
		if err != nil {
			return err
		}
		return runSpeaker(ctx, m, p, *kubeconfig, assumed)
	})
	return cmd
}

// keeperOfFRR manages FRR: kubelet runs it in a pod, or this program in a container.
func keeperOfFRR(m *machine, p plan.Plan, files speakdir.Dir) speaker.Daemon {
	if m.inPod {
		return inpod.NewSpeaker(p, files.Leave, files.Status)
	}
	// onprem-speak works at least once in each interval of the probe.
	return m.keeper(daemon.UsesCPU(), files.ForgetStatus)
}

func runSpeaker(ctx context.Context, m *machine, p plan.Plan, kubeconfig string,
	assumed []netip.Addr) error {
	state, err := ofSpeaker.Resume()
	if err != nil {
		return err
	}
	nodes, kept := kube.NewBootstrapWatcher(kubeconfig, m.log, nil), ofSpeaker.Nodes(m.log)
	candidates := heirs(nodes.Nodes, kept)
	prober := services.NewBootstrap(p, kubeconfig,
		func() []netip.Addr {
			return vip.Heirs(p, candidates(), func(nodes int) bool { return nodes > 0 })
		}, m.log)
	watch := vip.NewWatch(state, prober, ofSpeaker.Remember, m.wake)
	files := speakdir.Dir(spoken.RunDir)
	room := speaker.New(speaker.Options{
		Plan: p, Free: assumed, Notifier: &m.status, Now: time.Now,
		Daemon: keeperOfFRR(m, p, files),
		Host: &speakerHost{Watch: watch, Monitor: &speakdir.Monitor{Dir: files}, nodes: nodes,
			announced: ofSpeaker.SettledVIPs(m.log)},
		Nodes: kept,
	})
	m.meter.Follow("nodes", nodes.LastReceived)
	m.meter.Add(meter.Speaker(files))
	return runRoom(ctx, m, stepsOf(room), func(ctx context.Context) {
		if !p.ByVRRP() { // else keepalived's program has the port
			m.serve(ctx, p, p.Ports[port.MonitorVIP], nil)
		}
		m.watchLinks(ctx)
		m.watchAPI(ctx, "nodes", nodes)
		m.watch(ctx, "the local API", watch.Run)
		written := recorder.New(recorder.Options{
			Plan: p, Path: journal.SpeakerPath, Speaker: files, Log: m.log,
		})
		m.watch(ctx, "the journal", written.Run)
		m.watchFiles(ctx, "the speaker", files.At(spoken.StatusFile), spoken.RackFile)
	})
}
