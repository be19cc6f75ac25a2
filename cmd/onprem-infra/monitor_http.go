//go:build remote

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/workload"
	"github.com/onprem-infra/onprem-infra/shared/bootfiles"
	"github.com/onprem-infra/onprem-infra/shared/host/copied"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
)

func monitorHTTPCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "http",
		Short: "Serve the ramdisk and the operating system, beside the cluster's Ironic",
		Long: `http fetches the ramdisk and the operating system that the cluster description names,
checks their digests, and serves them and the files of Ironic to hosts over HTTP. It answers at all
addresses of its node: the one that hosts know comes to the node on which Ironic answers. Nothing
with a secret is served without TLS, and no file whose digest is not the right one. It runs in the
pod of the Deployment metal3-ironic.`,
		Example: `  onprem-infra monitor http`,
		Args:    cobra.NoArgs,
	}
	m := monitorFlags(cmd, "shared/bootfiles", std)
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, _ string) error {
		if !workload.Runs(p) {
			return errNoWorkload
		}
		room, err := m.filesRoom(bootfiles.Options{Plan: p, Phase: provision.Cluster,
			Host: podHTTP{}}, copied.Images{Dir: layout.Copied})
		if err != nil {
			return err
		}
		m.meter.Add(room.Metrics)
		return runInPod(ctx, m, "", stepsOf(room), everyRound, func(ctx context.Context) {
			m.serve(ctx, p, p.Ports[port.MonitorHTTP], m.alive)
			m.watchFiles(ctx, "the certificate", layout.Certificate)
		})
	})
	return cmd
}

// podHTTP is a pod for the room: its server is on as long as the pod.
type podHTTP struct{ httpHost }

func (podHTTP) Orders() (orders.Orders, error) {
	return orders.Orders{Generation: 1, On: []orders.Part{orders.HTTP},
		Why: "Ironic runs beside it"}, nil
}

// Report reports to no other program: kubelet probes over HTTP.
func (podHTTP) Report(orders.Report) error { return nil }

// Append keeps no file: the room logs what happens.
func (podHTTP) Append(...events.Event) error { return nil }
