package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/shared/distribution"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// scaling are the flags of the verbs by which hosts come and go.
type scaling struct {
	std        streams
	kubeconfig string
	apply      bool
}

func scalingFlags(cmd *cobra.Command, std streams) *scaling {
	s := &scaling{std: std}
	cmd.Flags().StringVar(&s.kubeconfig, "kubeconfig", "",
		"an administrator's credentials (default: the file that KUBECONFIG names)")
	cmd.Flags().BoolVar(&s.apply, "apply", false, "do the steps instead of printing them")
	return s
}

const scaleExit = `Exit code 0: the steps are printed, or done; 1: refused, with the reason; 2:
wrong usage; 3: the cluster's API does not answer.`

func hostAddCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NAME -c FILE",
		Short: "Print or do the steps by which a host becomes a node",
		Long: `add prints the steps by which OpenShift's operators make a node of a host that a
description lists: its objects, its inspection, a Machine more, its deployment. With --apply it
does them, and prints each one as it begins. It may be ended at any time and called again: it goes
on with the step that is next.

It refuses a host of another program's, and any host while others are available too: OpenShift
chooses one of them. It waits while the bootstrap machine still provisions.

` + scaleExit,
		Example: `  onprem-infra hosts add worker-2 -c install-config.yaml
  onprem-infra hosts add worker-2 -c install-config.yaml --machineset prod-x7k2p-worker-0 --apply`,
		Args: cobra.ExactArgs(1),
	}
	in, s := inputFlags(cmd), scalingFlags(cmd, std)
	set := cmd.Flags().String("machineset", "", "the MachineSet that the host is to belong to "+
		"(default: the only one)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flavour, objects, err := hostObjects(std, in, args[0])
		if err != nil {
			return err
		}
		return s.run(cmd.Context(), args[0], flavour, objects,
			func(w scale.World) (scale.Step, error) { return scale.Add(w, *set) })
	}
	return cmd
}

func hostRemoveCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Print or do the steps by which a host leaves the cluster",
		Long: `remove prints the steps by which a worker leaves a cluster of OpenShift: its own
Machine is marked, so that no other one goes when its MachineSet gets a replica less; its node is
drained, its disk wiped, its power off, and its objects are deleted. With --apply it does them, and
prints each one as it begins. It may be ended at any time and called again: it goes on with the step
that is next.

It refuses a member of etcd, and names the quorum if that would be lost; the last node with a ready
ingress router; a node that no Machine would drain; and a host whose Machine would not be the one
that goes, or whose disk another Machine would take.

` + scaleExit,
		Example: `  onprem-infra hosts remove worker-1
  onprem-infra hosts remove worker-1 --apply`,
		Args: cobra.ExactArgs(1),
	}
	s := scalingFlags(cmd, std)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flavour := distribution.FlavourOf(spec.OpenShift, spec.BareMetal)
		return s.run(cmd.Context(), args[0], flavour, nil, scale.Remove)
	}
	return cmd
}

func hostReleaseCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Let the cluster provision the hosts that wait for the bootstrap machine to end",
		Long: `release lets OpenShift's operators begin with the hosts that "render --role=cluster"
has paused: once the bootstrap machine has ended, and the cluster's own Ironic is ready. They begin
in batches of 50, the next one when nine of ten have been inspected; one of which metal3 reports a
problem keeps no other waiting. A host that a person has paused stays paused. It prints the batches,
and with --apply it waits and does them. It may be ended at any time and called again.

` + scaleExit,
		Example: `  onprem-infra hosts release
  onprem-infra hosts release --apply`,
		Args: cobra.NoArgs,
	}
	s := scalingFlags(cmd, std)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := s.client(distribution.FlavourOf(spec.OpenShift, spec.BareMetal))
		if err != nil {
			return err
		}
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		if s.apply {
			return refusal(api.Release(ctx, func(round scale.Round, failed error) {
				s.print(round.Text(), failed)
			}))
		}
		f, err := api.Fleet(ctx)
		if err != nil {
			return refusal(err)
		}
		for i, round := range scale.ForeseeRelease(f) {
			if _, err := fmt.Fprintf(std.out, "%2d. %s\n", i+1, round.Text()); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// hostObjects are the objects of one host of a description.
func hostObjects(std streams, in *input, name string) (
	distribution.Flavour, []object.Object, error) {
	described, err := loadCluster(std, in)
	if err != nil {
		return distribution.Flavour{}, nil, err
	}
	p, err := compile(described)
	if err != nil {
		return distribution.Flavour{}, nil, err
	}
	if !p.Flavour().Machines || !metal3.Knows(p) || !slices.ContainsFunc(p.Provisioning.Hosts,
		func(h provision.Host) bool {
			return h.Name == name && h.BMC != "" && h.Phase == provision.Cluster &&
				h.Role == string(role.Worker)
		}) {
		return distribution.Flavour{}, nil, negativef("%s has no worker %q with a BMC that "+
			"OpenShift's operators provision: add it there", in.file, name)
	}
	described.Hosts = slices.DeleteFunc(slices.Clone(described.Hosts), func(h spec.Host) bool {
		return h.Name != name // the others' files need not be here
	})
	hosts, _, err := secretsOf(std, in, described)
	if err != nil {
		return distribution.Flavour{}, nil, err
	}
	objects, err := metal3.HostObjects(p, metal3.Given{Hosts: hosts}, name)
	if err != nil {
		err = negative(err)
	}
	return p.Flavour(), objects, err
}

// client is for the cluster's API.
func (s *scaling) client(flavour distribution.Flavour) (*machines.Client, error) {
	path := cmp.Or(s.kubeconfig, os.Getenv("KUBECONFIG"))
	if path == "" {
		return nil, usage("name an administrator's credentials by --kubeconfig, or " +
			"set KUBECONFIG")
	}
	return machinesOf(path, flavour), nil
}

// machinesOf is for the API of which a kubeconfig has credentials.
func machinesOf(kubeconfig string, flavour distribution.Flavour) *machines.Client {
	return &machines.Client{API: kube.NewAPI(kubeconfig, slog.New(slog.DiscardHandler)),
		ControlPlane: flavour.ControlPlaneLabel, Namespace: flavour.Namespace}
}

// hostsAPI is for an API that is asked beside other things: a kubeconfig that is not there would
// be one fault of many.
func hostsAPI(kubeconfig string, flavour distribution.Flavour) (*machines.Client, error) {
	there, err := file.Exists(kubeconfig)
	if err == nil && !there {
		err = usage("there is no file %s: name an administrator's kubeconfig", kubeconfig)
	}
	return machinesOf(kubeconfig, flavour), err
}

// print prints what begins now, or what will be tried again.
func (s *scaling) print(text string, failed error) {
	if failed != nil {
		text = "tried again: " + failed.Error()
	}
	_ = printMessage(s.std.out, "%s %s\n", time.Now().Format(time.TimeOnly), text)
}

// run prints the steps, or does them.
func (s *scaling) run(ctx context.Context, host string, flavour distribution.Flavour,
	objects []object.Object, next scale.Next) error {
	api, err := s.client(flavour)
	if err != nil {
		return err
	}
	ctx, cancel := untilStopped(ctx)
	defer cancel()
	if s.apply {
		err = api.Run(ctx, host, next, objects, func(step scale.Step, failed error) {
			s.print(step.Text(host), failed)
		})
	} else {
		err = s.foresee(ctx, api, host, next)
	}
	return refusal(err)
}

// refusal is a negative answer where the decision or the API has refused.
func refusal(err error) error {
	if errors.As(err, new(scale.Refusal)) || errors.As(err, new(kube.Refused)) {
		return negative(err)
	}
	return err
}

// foresee prints all steps.
func (s *scaling) foresee(
	ctx context.Context, api *machines.Client, host string, next scale.Next,
) error {
	w, err := api.World(ctx, host)
	if err != nil {
		return err
	}
	all, err := scale.Foresee(w, next)
	if err != nil {
		return err
	}
	if all[0].Done && !w.Host.Exists {
		return machines.NoHost(host)
	}
	for i, step := range all {
		text := fmt.Sprintf("%2d. %s\n", i+1, step.Text(host))
		if command := step.Command(host); command != "" {
			text += "      " + command + "\n"
		}
		if _, err := fmt.Fprint(s.std.out, text); err != nil {
			return err
		}
	}
	return nil
}
