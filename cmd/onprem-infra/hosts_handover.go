package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/handover"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
)

// asking bounds what the verbs read of the cluster.
const asking = 30 * time.Second

const handoverExit = `Exit code 0: it is asked for; 1: it is refused; 2: wrong usage; 3: this host
is no bootstrap machine that works.`

func takeBackCommand(std streams, own files) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "take-back --yes",
		Short: "Have the bootstrap machine provision again that is handing over to the cluster",
		Long: `take-back leads the handover of provisioning back: the bootstrap machine has
OpenShift's operator of metal3 wait again, and then its own address, Ironic and DHCP go on, for the
hosts of the control plane. No disk of a host that has joined is written. It stays so until 'hosts
hand-over' has it handed over again. Run the command on the bootstrap machine, as root.

It refuses once a host of the cluster may have begun, whichever program let it; while the cluster's
own Ironic runs, or has its address: it names the command that stops that; while a pod of it may run
on, as its Deployment alone was deleted, or as Kubernetes does not reach its node; and without a
provisioning network, as hosts then reach Ironic at the API VIP, which a node has by then.
Kubernetes forgets the pods of a Node that is deleted: switch such a machine off before.
onprem-provision checks the same again before anything goes on, begins within seconds, and notes
time and cause in its journal. What did not follow within five minutes is void.

` + handoverExit,
		Example: `  onprem-infra hosts take-back --yes --why "the cluster's Ironic finds no image"
  onprem-infra status`,
		Args: cobra.NoArgs,
	}
	yes := cmd.Flags().Bool("yes", false, "have the parts of this machine go on again")
	why := whyFlag(cmd)
	kubeconfig := cmd.Flags().String("kubeconfig", "/etc/kubernetes/kubeconfig",
		"credentials for the cluster's API, as those of onprem-provision")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		p, m, err := own.handsOver(std)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), asking)
		defer cancel()
		c := ownCluster(p)
		if text := c.Refusal(m, viewOf(ctx, c, p, *kubeconfig)); text != "" {
			return negativef("provisioning is not taken back: %s", text)
		}
		if !*yes {
			return usage("DHCP and Ironic of this machine will go on again: add --yes")
		}
		return own.reverse(std, m, orders.Reversal{Back: true, Why: *why})
	}
	return cmd
}

func handOverCommand(std streams, own files) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hand-over",
		Short: "Have the bootstrap machine hand provisioning over that was taken back",
		Long: `hand-over has the bootstrap machine hand provisioning over to the cluster again,
after 'hosts take-back'. The first time it does so by itself. Run the command there, as root.

` + handoverExit,
		Example: `  onprem-infra hosts hand-over
  onprem-infra status --watch`,
		Args: cobra.NoArgs,
	}
	why := whyFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		_, m, err := own.handsOver(std)
		if err != nil {
			return err
		}
		if m.Held.IsZero() {
			return negativef("provisioning is not taken back, so it is handed over without a " +
				"command: see 'onprem-infra status'")
		}
		return own.reverse(std, m, orders.Reversal{Why: *why})
	}
	return cmd
}

func whyFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("why", "", "why, for the journal")
}

// handsOver is the plan of a bootstrap machine, and what its journal has.
func (f files) handsOver(std streams) (p plan.Plan, m ledger.Memory, err error) {
	if err := f.isBootstrap(); err != nil {
		return p, m, err
	}
	if p, err = f.compiled(std); err != nil {
		return p, m, err
	}
	m, err = f.memory()
	return p, m, err
}

// isBootstrap is an error on another host than a bootstrap machine.
func (f files) isBootstrap() error {
	there, err := file.Exists(f.cluster)
	if err == nil && !there {
		err = fmt.Errorf("this host has no %s, so it is no bootstrap machine: run the command "+
			"there", f.cluster)
	}
	return err
}

// viewOf is what is seen of the cluster now.
func viewOf(ctx context.Context, c handover.Cluster, p plan.Plan,
	kubeconfig string) (v handover.View) {
	if !c.Metal3 {
		return v
	}
	nodes := func() []addr.Candidate { return nil } // the VIPs will do
	seen := handedCluster(p, kubeconfig, slog.New(slog.DiscardHandler), nodes)
	if v.Fleet, v.Err = seen.Fleet(ctx); v.Err == nil && c.Address.IsValid() {
		v.Holders, v.Err = seen.Holders()
	}
	return v
}

// reverse asks the phase machine for what a person wants.
func (f files) reverse(std streams, m ledger.Memory, r orders.Reversal) error {
	if err := f.works(time.Now()); err != nil {
		return err
	}
	r.Of, r.At, r.Why = m.HandoverSince, time.Now().UTC(), cmp.Or(r.Why, "a person asked for it")
	if err := f.run.WriteReversal(r); err != nil {
		return fmt.Errorf("ask onprem-provision: %w", err)
	}
	what := "handed over again"
	if r.Back {
		what = "taken back"
	}
	_, err := fmt.Fprintf(std.out, "provisioning will be %s: follow it with 'onprem-infra "+
		"status'\n", what)
	return err
}
