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
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

func runVIPCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vip",
		Short: "Hold the API VIP on the bootstrap machine and give it up in time",
		Long: `vip launches keepalived in a container and keeps it configured. It holds the API VIP above every control plane node, gives it up
when Ironic is gone and the machine's own API server is gone too, or announces its shutdown while a control plane node is ready, and then
it goes on serving until that node has the VIP; it takes the VIP back when the API returns, and leaves at once on SIGTERM. A VIP that another host answers for before the cluster exists is left
alone until that host has given it up. A gateway that answers for every address (proxy ARP) holds none; when another router does so, tell
the program by --assume-free: systemctl edit onprem-keepalived, and write

  [Service]
  ExecStart=
  ExecStart=/usr/local/bin/onprem-infra bootstrap run vip --assume-free VIP`,
		Example: `  onprem-infra bootstrap run vip
  onprem-infra bootstrap run vip --assume-free 192.0.2.5
  journalctl -u onprem-keepalived`,
		Args: cobra.NoArgs,
	}
	m := machineFlags(cmd, "bootstrap/vip", std)
	kubeconfig := cmd.Flags().String("kubeconfig", "/etc/kubernetes/kubeconfig", "credentials for the machine's own API server; may appear later")
	inPod := inPodFlag(cmd, "keepalived")
	free := cmd.Flags().StringArray("assume-free", nil, "an API VIP that no other host holds, whoever answers for it; may be given more than once")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		if !*inPod {
			m.static, m.stop = keepalivedManifest, cancel
		}
		return runVIP(ctx, std, m, *kubeconfig, *free, *inPod)
	}
	return cmd
}

// assumedFree reads the API VIPs that nobody is asked for.
func assumedFree(p plan.Plan, texts []string) ([]netip.Addr, error) {
	var vips []netip.Addr
	all := election.Addresses(p, role.Bootstrap)
	for _, text := range texts {
		vip, err := netip.ParseAddr(text)
		if err != nil || !slices.Contains(all, vip) {
			return nil, usage("--assume-free %q: not an API VIP of this cluster, which has %v", text, all)
		}
		vips = append(vips, vip)
	}
	return vips, nil
}

func runVIP(ctx context.Context, std streams, m *machine, kubeconfig string, free []string, inPod bool) error {
	p, header, err := m.load(std)
	if err != nil {
		return err
	}
	assumed, err := assumedFree(p, free)
	if err != nil {
		return err
	}
	var keeper vip.Daemon = newPodKeepalived(p)
	if !inPod {
		own := m.keeper()
		own.Prepare = forgetStatus
		own.Sign = daemon.Works() // onprem-supervise looks around once a beat
		keeper = own
	}
	release, err := onHost.release()
	if err != nil {
		return err
	}
	nodes, kept := kube.New(kubeconfig, m.log), onHost.keptNodes(m.log)
	watch := vip.NewWatch(release, newVIPProber(p, kubeconfig, heirs(nodes.Nodes, kept), m.log), onHost.remember, m.wake)
	claims := vip.NewClaims(p, onHost.settledVIPs(m.log), assumed, vipNetwork{}, onHost.settle, m.wake)
	notice := vip.NewNotice(vipBoard{api: kube.NewAPI(kubeconfig, m.log), namespace: p.Namespace}, time.Now, m.log)
	ear, journal := newListener(p, nodeVIPHost{}, m.log), newWriter(p, nodeVIPHost{}, nil, nil, m.log)
	journal.heard, ear.journal = ear.announced, journal.disturbed
	room := vip.New(p, header, kept, vipHost{nodes: nodes, watch: watch, claims: claims, notice: notice, ear: ear, starts: onHost.starts(m.log)}, keeper, &m.status, time.Now)
	said := newVIPMeter(p, nodeVIPHost{}, nil, nil, nodes.Known)
	m.meter.Add(said.onto)
	ear.adverts, ear.tells = said.hear, said.Clashes
	m.meter.Follow("nodes", nodes.Heard)
	observe := func(ctx context.Context) (vip.Snapshot, error) {
		if status, err := (vipHost{}).Status(); err == nil { // the room reads it too, and says what is wrong
			said.Status(status, time.Now())
		}
		return room.Observe(ctx)
	}
	steps := loop.Steps[vip.Snapshot, vip.Desired]{Observe: observe, Decide: room.Decide, Apply: room.Apply, Leave: room.Leave}
	return turn(ctx, m, steps, func(ctx context.Context) {
		m.serve(ctx, p, p.Ports[port.MonitorVIP])
		m.watch(ctx, "links", func(ctx context.Context) error { return link.Watch(ctx, m.wake) })
		m.watch(ctx, "nodes", func(ctx context.Context) error { return nodes.Run(ctx, m.wake) })
		m.watch(ctx, "the local API", watch.Run)
		m.watch(ctx, "who else holds the VIPs", claims.Run)
		m.watch(ctx, "what the cluster knows of this machine", notice.Run)
		m.watch(ctx, "the journal", journal.follow)
		m.watch(ctx, "who else is in the election", ear.follow)
		m.watch(ctx, "the supervisor", func(ctx context.Context) error {
			return file.Watch(ctx, []string{statusFile}, m.wake)
		})
	})
}
