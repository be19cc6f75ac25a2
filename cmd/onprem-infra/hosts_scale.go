package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/barehosts"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale/bare"
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
		Long: `add prints the steps by which a node is made of a host that a description lists: its
objects, its inspection, its deployment. With --apply it does them, and prints each one as it
begins. It may be ended at any time and called again: it goes on with the step that is next.

In a cluster of OpenShift its MachineSet gets a Machine more. In a cluster of any other Kubernetes
the host itself gets the description's osImage, and --user-data names the document by which it
joins: Ignition, or user data of cloud-init, such as with the command that "kubeadm token create
--print-join-command" prints. Keep it as safe as that token; it is in a Secret until the host is
removed. Another one, such as with a new token, replaces it until the disk is written.

It refuses a host of another program's, and one that would lose a running system. In a cluster of
OpenShift it refuses any host while others are available too: OpenShift chooses one of them. It
waits while the bootstrap machine still provisions.

` + scaleExit,
		Example: `  onprem-infra hosts add worker-2 -c install-config.yaml
  onprem-infra hosts add worker-2 -c install-config.yaml --machineset prod-x7k2p-worker-0 --apply
  onprem-infra hosts add worker-2 -c cluster.yaml --user-data worker.yaml --apply`,
		Args: cobra.ExactArgs(1),
	}
	in, s := inputFlags(cmd), scalingFlags(cmd, std)
	imagesFlag(cmd, in)
	set := cmd.Flags().String("machineset", "", "the MachineSet that the host is to belong to "+
		"(default: the only one); of OpenShift")
	document := cmd.Flags().String("user-data", "", "file with the document by which the host "+
		"joins; of any other Kubernetes")
	node := nodeFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, objects, err := hostObjects(std, in, args[0])
		if err != nil {
			return err
		}
		f := p.Flavour()
		if err := ofFlavour(cmd, f.Machines); err != nil {
			return err
		}
		api, err := s.client(f)
		if err != nil {
			return err
		}
		if f.Machines {
			return s.run(cmd.Context(), api.Place, &machineWay{api, args[0], objects,
				func(w scale.World) (scale.Step, error) { return scale.Add(w, *set) }})
		}
		comes, err := bareAdd(p, args[0], *document)
		if err != nil {
			return err
		}
		comes.Client, comes.Objects, comes.Node = api, objects, *node
		return s.run(cmd.Context(), api.Place, comes)
	}
	return cmd
}

func hostRemoveCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Print or do the steps by which a host leaves the cluster",
		Long: `remove prints the steps by which a worker leaves a cluster: its node is drained, its
disk wiped, its power off, and its objects are deleted. With --apply it does them, and prints each
one as it begins. It may be ended at any time and called again: it goes on with the step that is
next. The cluster itself shows whether it is one of OpenShift; -c names its description otherwise.

In a cluster of OpenShift the host's own Machine is marked, so that no other one goes when its
MachineSet gets a replica less. In a cluster of any other Kubernetes the node is cordoned, and its
pods are evicted as their PodDisruptionBudgets allow; a pod that blocks is named. Data in emptyDir
volumes and on the host's disks are lost.

It refuses a member of etcd, and names the quorum if that would be lost; the last node with a ready
ingress router; a node that nothing would drain or wipe, and a pod that nothing would start again;
a host of another program's; and a host whose Machine would not be the one that goes, or whose disk
another Machine would take.

` + scaleExit,
		Example: `  onprem-infra hosts remove worker-1
  onprem-infra hosts remove worker-1 --apply
  onprem-infra hosts remove worker-1 --node worker-1-eu --apply`,
		Args: cobra.ExactArgs(1),
	}
	in, s := descriptionFlag(cmd), scalingFlags(cmd, std)
	node := nodeFlag(cmd)
	alone := cmd.Flags().Bool("no-node", false, "the host is none of the nodes that no host has "+
		"the name of; of any other Kubernetes than OpenShift")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, err := s.flavour(cmd.Context(), in, args[0])
		if err != nil {
			return err
		}
		if err := ofFlavour(cmd, f.Machines); err != nil {
			return err
		}
		api, err := s.client(f)
		if err != nil {
			return err
		}
		if f.Machines {
			return s.run(cmd.Context(), api.Place, &machineWay{api, args[0], nil, scale.Remove})
		}
		return s.run(cmd.Context(), api.Place, &barehosts.Client{Client: api, Name: args[0],
			Drains: true, Node: *node, Remote: f.RemoteLabel,
			Next: func(w bare.World) (bare.Step, error) { return bare.Remove(w, *alone) }})
	}
	return cmd
}

func hostReleaseCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Let the cluster provision the hosts that wait for the bootstrap machine to end",
		Long: `release lets the cluster's operators begin with the hosts that
"render --role=cluster" has paused: once the bootstrap machine has ended, and the cluster's own
Ironic is ready. The bootstrap machine does the same by itself as its last step, so this is for one
that was removed before.

Hosts begin in batches of 50, the next one when nine of ten have been inspected; one of which metal3
reports a problem keeps no other waiting. A host that a person has paused stays paused. While
OpenShift's operator of metal3 is paused it waits, and names the command that has it go on: check
first that the bootstrap machine is off. It prints the batches, and with --apply it waits and does
them. It may be ended at any time and called again. The cluster itself shows whether it is one of
OpenShift; -c names its description otherwise.

` + scaleExit,
		Example: `  onprem-infra hosts release
  onprem-infra hosts release --apply`,
		Args: cobra.NoArgs,
	}
	in, s := descriptionFlag(cmd), scalingFlags(cmd, std)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		f, err := s.flavour(cmd.Context(), in, "")
		if err != nil {
			return err
		}
		api, err := s.client(f)
		if err != nil {
			return err
		}
		return s.run(cmd.Context(), api.Place, &releaseWay{api})
	}
	return cmd
}

// refusal is a negative answer where the decision or the API has refused.
func refusal(err error) error {
	if errors.As(err, new(scale.Refusal)) || errors.As(err, new(kube.Refused)) {
		return negative(err)
	}
	return err
}
