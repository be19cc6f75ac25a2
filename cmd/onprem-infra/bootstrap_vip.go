//go:build remote

package main

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/daemon"
	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/bootstrap/vip/announce"
	"github.com/onprem-infra/onprem-infra/bootstrap/vip/conflict"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/inpod"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/meter"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/host/recorder"
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

func runVIPCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vip",
		Short: "Hold the API VIP on the bootstrap machine and release it in time",
		Long: `vip launches keepalived in a container and keeps it configured. It holds the API VIP
above every control plane node, releases it when Ironic is gone and the machine's own API server is
gone too, or hangs or announces its shutdown while a control plane node is ready; after such an
announcement it goes on serving until that node has the VIP. It takes the VIP back when the API
returns, and releases it at once on SIGTERM. A VIP that another host answers for before the cluster
exists is left alone until that host has released it. A gateway that answers for every address
(proxy ARP) holds none; if another router does so, pass --assume-free to the program: systemctl edit
onprem-keepalived, and write

  [Service]
  ExecStart=
  ExecStart=/usr/local/bin/onprem-infra bootstrap run vip --assume-free VIP`,
		Example: `  onprem-infra bootstrap run vip
  onprem-infra bootstrap run vip --assume-free 192.0.2.5
  journalctl -u onprem-keepalived`,
		Args: cobra.NoArgs,
	}
	m := machineFlags(cmd, std, "bootstrap/vip", "keepalived", inspect.KeepalivedManifest)
	kubeconfig := cmd.Flags().String("kubeconfig", "/etc/kubernetes/kubeconfig",
		"credentials for the machine's own API server; may appear later")
	free := cmd.Flags().StringArray("assume-free", nil, "an API VIP that no other host holds, "+
		"whoever answers for it; may be given more than once")
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, header string) error {
		assumed, err := assumedFree(election.Addresses(p, role.Bootstrap), *free)
		if err != nil {
			return err
		}
		return runVIP(ctx, m, vip.Options{Plan: p, Header: header}, *kubeconfig, assumed)
	})
	return cmd
}

// assumedFree parses those of all API VIPs that are not probed for another holder.
func assumedFree(all []netip.Addr, texts []string) ([]netip.Addr, error) {
	var vips []netip.Addr
	for _, text := range texts {
		vip, err := netip.ParseAddr(text)
		if err != nil || !slices.Contains(all, vip) {
			return nil, usage("--assume-free %q: not an API VIP of this cluster, which has %v",
				text, all)
		}
		vips = append(vips, vip)
	}
	return vips, nil
}

// keeperOfKeepalived manages keepalived: kubelet runs it in a pod, or this program in a container.
func keeperOfKeepalived(m *machine, p plan.Plan) vip.Daemon {
	if m.inPod {
		leave := func(now bool) error { return runDir.SetLeave(leaveOwner, now) }
		return inpod.NewKeepalived(p, leave, runDir.Status)
	}
	// onprem-supervise works at least once in each interval of the probe.
	return m.keeper(daemon.UsesCPU(), runDir.ForgetStatus)
}

func runVIP(
	ctx context.Context, m *machine, o vip.Options, kubeconfig string, assumed []netip.Addr,
) error {
	p := o.Plan
	release, err := onHost.Resume()
	if err != nil {
		return err
	}
	nodes, kept := kube.NewBootstrapWatcher(kubeconfig, m.log, nil), onHost.Nodes(m.log)
	candidates := heirs(nodes.Nodes, kept)
	prober := services.NewBootstrap(p, kubeconfig,
		func() []netip.Addr { return vip.Heirs(p, candidates(), p.Elects) }, m.log)
	watch := vip.NewWatch(release, prober, onHost.Remember, m.wake)
	conflicts := conflict.New(conflict.Options{
		Plan: p, Settled: onHost.SettledVIPs(m.log), Free: assumed, Network: link.Network{},
		Remember: onHost.Settle, Wake: m.wake,
	})
	object := bootstrapObject{api: kube.NewAPI(kubeconfig, m.log), namespace: p.Namespace}
	announcer := announce.New(object, time.Now, m.log)
	listener := newListener(p, node.New(""), m.log)
	o.Nodes, o.Daemon, o.Notifier, o.Now = kept, keeperOfKeepalived(m, p), &m.status, time.Now
	o.Host = vipHost{
		Dir: runDir, Bootstrap: onHost, Starts: onHost.Starts(m.log), Watch: watch,
		Announcer: announcer, nodes: nodes, conflicts: conflicts, listener: listener,
	}
	room := vip.New(o)
	counted := meter.New(meter.Options{Plan: p, Host: node.New(""), Nodes: nodes.Known})
	m.meter.Add(counted.Page)
	if p.BGP != nil { // the speaker's program leaves the port to this one
		m.meter.Add(meter.Speaker(speakdir.Dir(spoken.RunDir)))
	}
	m.meter.Follow("nodes", nodes.LastReceived)
	steps := stepsOf(room)
	steps.Observe = func(ctx context.Context) (vip.Snapshot, error) {
		if status, err := runDir.Status(); err == nil { // the room reads it too, and reports errors
			counted.Status(status, time.Now())
		}
		return room.Observe(ctx)
	}
	return runRoom(ctx, m, steps, func(ctx context.Context) {
		m.serve(ctx, p, p.Ports[port.MonitorVIP], nil)
		m.watchLinks(ctx)
		m.watchAPI(ctx, "nodes", nodes)
		m.watch(ctx, "the local API", watch.Run)
		m.watch(ctx, "other holders of the VIPs", conflicts.Run)
		m.watch(ctx, "the announced addresses", announcer.Run)
		m.keepJournal(ctx, listener, counted, counted.Received, recorder.Options{
			Plan: p, Run: runDir, Path: journal.Path, Announced: listener.Announced, Log: m.log,
		})
		m.watchFiles(ctx, "the supervisor", runDir.StatusFile())
	})
}
