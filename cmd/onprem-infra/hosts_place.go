package main

import (
	"context"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/cluster/workload/reads"
	"github.com/onprem-infra/onprem-infra/ignition/verify"
	"github.com/onprem-infra/onprem-infra/shared/distribution"
	"github.com/onprem-infra/onprem-infra/shared/host/barehosts"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale/bare"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/plan/provisions"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// descriptionFlag gives a verb the flag -c, which it does not need.
func descriptionFlag(cmd *cobra.Command) *input {
	in := &input{}
	cmd.Flags().StringVarP(&in.file, "cluster", "c", "", "install-config.yaml or cluster.yaml "+
		"(default: what the cluster itself shows)")
	return in
}

func nodeFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("node", "", "the host's node, if its name is not the host's; of "+
		"any other Kubernetes than OpenShift")
}

// ofFlavour refuses a flag that has no effect.
func ofFlavour(cmd *cobra.Command, hasMachines bool) error {
	none, why := []string{"machineset"}, "no MachineSets: it is for OpenShift"
	if hasMachines {
		none, why = []string{"user-data", "node", "no-node"}, "Machines of OpenShift, which know "+
			"it: it is for any other Kubernetes"
	}
	for _, name := range none {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			return usage("leave --%s out: the cluster has %s", name, why)
		}
	}
	return nil
}

// flavour is that of the description, or of what the cluster itself shows. Without a description
// the namespace of our objects is not known: it can be any.
func (s *scaling) flavour(ctx context.Context, in *input, host string) (
	f distribution.Flavour, err error) {
	if in.file != "" {
		described, err := loadCluster(s.std, in)
		if err != nil {
			return f, err
		}
		p, err := compile(described)
		return p.Flavour(), err
	}
	api, err := s.client(f)
	if err != nil {
		return f, err
	}
	place, err := machines.Find(ctx, api.API, host)
	if err != nil {
		return f, refusal(err)
	}
	of := spec.Kubernetes
	if place.Machines {
		of = spec.OpenShift
	}
	f = distribution.FlavourOf(of, spec.BareMetal)
	f.Namespace = ""
	return f, nil
}

// client is for the cluster's API.
func (s *scaling) client(flavour distribution.Flavour) (*machines.Client, error) {
	if s.kubeconfig != "" {
		return hostsAPI(s.kubeconfig, flavour)
	}
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		return nil, usage("name an administrator's credentials by --kubeconfig, or " +
			"set KUBECONFIG")
	}
	return machinesOf(path, flavour), nil
}

// machinesOf is for the API of which a kubeconfig has credentials.
func machinesOf(kubeconfig string, flavour distribution.Flavour) *machines.Client {
	return &machines.Client{API: kube.NewAPI(kubeconfig, slog.New(slog.DiscardHandler)),
		Place: flavour.Hosts(), ControlPlane: flavour.ControlPlaneLabel,
		Namespace: flavour.Namespace}
}

// hostsAPI is for the API of a kubeconfig that a flag names. One that is not there is wrong usage,
// and not an API that does not answer.
func hostsAPI(kubeconfig string, flavour distribution.Flavour) (*machines.Client, error) {
	there, err := file.Exists(kubeconfig)
	if err == nil && !there {
		err = usage("there is no file %s: name an administrator's kubeconfig", kubeconfig)
	}
	return machinesOf(kubeconfig, flavour), err
}

// hostObjects are the objects of one host of a description, and the plan of its cluster.
func hostObjects(std streams, in *input, name string) (p plan.Plan, all []object.Object,
	err error) {
	described, err := loadCluster(std, in)
	if err != nil {
		return p, nil, err
	}
	if p, err = compile(described); err != nil {
		return p, nil, err
	}
	if p.Provisioning != nil && !provisions.InCluster(p) {
		return p, nil, negativef("%s: the cluster itself provisions hosts only with a "+
			"provisioning network, address: one and a load balancer of ours: change provisioning "+
			"there, or add the host by the program that provisions your workers", in.file)
	}
	if p.Provisioning != nil && !metal3.Knows(p) {
		return p, nil, negativef("%s and the images have no %s, by which the cluster itself would "+
			"provision hosts: add it there", in.file, spec.IronicImage)
	}
	if !metal3.Knows(p) || !slices.ContainsFunc(p.Provisioning.Hosts,
		func(h provision.Host) bool {
			return h.Name == name && h.BMC != "" && h.Phase == provision.Cluster &&
				h.Role == string(role.Worker)
		}) {
		return p, nil, negativef("%s has no worker %q with a BMC that the cluster's own operators "+
			"provision: add it there", in.file, name)
	}
	described.Hosts = slices.DeleteFunc(slices.Clone(described.Hosts), func(h spec.Host) bool {
		return h.Name != name // the others' files need not be here
	})
	hosts, _, err := secretsOf(std, in, described)
	if err != nil {
		return p, nil, err
	}
	all, err = metal3.HostObjects(p, metal3.Given{Hosts: hosts}, name)
	if err != nil {
		err = negative(err)
	}
	return p, all, err
}

// bareAdd adds a host to a cluster of any Kubernetes; the caller sets Client, Objects and Node.
func bareAdd(p plan.Plan, host, document string) (*barehosts.Client, error) {
	image, err := reads.Image(p)
	if err != nil {
		return nil, negative(err)
	}
	c := &barehosts.Client{Name: host, Next: func(w bare.World) (bare.Step, error) {
		return bare.Add(w, image, document != "")
	}}
	if document == "" {
		return c, nil
	}
	text, err := readFile(document)
	if err != nil {
		return nil, usage("--user-data: %v", err)
	}
	if err := verify.Joining(text); err != nil {
		return nil, negativef("--user-data: %s: %w", document, err)
	}
	c.Document = []object.Object{metal3.UserData(host, secret.New(string(text)))}
	return c, nil
}
