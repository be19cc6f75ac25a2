//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/cluster/workload"
	"github.com/onprem-infra/onprem-infra/cluster/workload/reads"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/identity"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provisions"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/programs"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

func monitorIronicCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ironic",
		Short: "Write what the cluster's Ironic reads, and end",
		Long: `ironic writes the configuration of the Ironic that runs in the cluster, the scripts
by which hosts boot, and Ironic's certificate and account, and ends. It makes the certificate and
the account if the Secret metal3-ironic does not have them yet, or if the certificate ends within a
year or lacks a name; otherwise they stay, on whichever node the pod runs. It prints neither. If a
worker boots virtual media, it chooses the node's address from which BMCs fetch them. It runs
before Ironic in the pod of the Deployment metal3-ironic, with an account that may change that one
Secret, and read what the bootstrap machine publishes. While that machine installs the control
plane, up to its phase unpause, ironic waits; one that publishes nothing for two minutes counts as
gone.`,
		Example: `  onprem-infra monitor ironic`,
		Args:    cobra.NoArgs,
	}
	m := monitorFlags(cmd, "cluster/workload", std)
	m.kubeconfigFlag(cmd)
	cmd.Flags().Lookup("kubeconfig").Usage = "credentials for the Secret (default: those of the " +
		"pod's service account)"
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, _ string) error {
		if !workload.Runs(p) {
			return errNoWorkload
		}
		api, err := m.podAPI()
		if err != nil {
			return err
		}
		links, err := link.Snapshot()
		if err != nil {
			return err
		}
		on, err := ironicNode(p, links, layout.Copied)
		if err != nil {
			return err
		}
		own, first, err := identityOf(ctx, api, p)
		if err != nil {
			return err
		}
		if err := untilHandedOver(ctx, api, p, first, m.log); err != nil {
			return err
		}
		return writeWorkload(p, own, on, filepath.Dir(m.cluster))
	})
	return cmd
}

// errNoWorkload ends the programs of the cluster's Ironic in a cluster without one.
var errNoWorkload = errors.New("this cluster runs no Ironic of its own: write spec.provisioning " +
	"with address: one, and images.ironicImage, in the cluster description, or do not run this " +
	"program")

// asks is the time between two looks at what the bootstrap machine publishes, and appears within
// what it publishes first, once its namespace is there.
const (
	asks    = 5 * time.Second
	appears = 6 * asks
)

// untilHandedOver waits until the bootstrap machine has given the provisioning address up: a node
// on which Ironic answers is a candidate for it, and would take it from a machine that is off for a
// minute and still has hosts to install. One that has published nothing yet may be about to, where
// the first Ironic of the cluster starts: its namespace is as new.
func untilHandedOver(
	ctx context.Context, api machines.API, p plan.Plan, first bool, log *slog.Logger,
) error {
	if !provisions.Runs(p) {
		return nil
	}
	begin := time.Now()
	c := &machines.Client{API: api, Place: metal3.Place(p), Namespace: p.Flavour().Namespace}
	var logged loop.News
	for range loop.Every(ctx, asks) {
		why, known, err := c.Installs(ctx, time.Now())
		switch {
		case errors.As(err, new(kube.Refused)):
			// The right came with a later release than the account. It is in a file that stands
			// before the pod's, so what is applied for a new cluster has both.
			log.Warn("do not wait for a bootstrap machine: apply the objects of render "+
				"--role=cluster", "namespace", c.Namespace, "error", err)
			return nil
		case err == nil && why == "" && (known || !first || time.Since(begin) >= appears):
			return nil
		case err == nil && why == "":
			why = "no bootstrap machine has published anything yet"
		}
		if logged.Is(fmt.Sprint(why, err)) {
			log.Info("wait for the bootstrap machine", "why", why, "error", err)
		}
	}
	return ctx.Err()
}

// podAPI is the API for the account of the pod, or for that of the flag.
func (m *monitor) podAPI() (*kube.API, error) {
	path := m.kubeconfig
	if path == "" {
		path = filepath.Join(os.TempDir(), "kubeconfig")
		if err := kubeconfig.WriteInPod(path); err != nil {
			return nil, err
		}
	}
	return kube.NewAPI(path, m.log), nil
}

// identityOf is Ironic's identity, which the Secret has afterwards; first reports whether no Ironic
// of the cluster had one before.
func identityOf(
	ctx context.Context, api *kube.API, p plan.Plan,
) (own identity.Bundle, first bool, err error) {
	err = api.Change(ctx, metal3.Namespace(p), workload.Identity,
		func(now map[string][]byte) (map[string][]byte, error) {
			var err error
			first = len(now) == 0
			own, _, err = identity.Bundle(now).Complete(reads.TLSNames(p), time.Now())
			return own, err
		})
	return own, first, err
}

// ironicNode is what Ironic's files have of this node: where BMCs fetch virtual media, if a host
// boots that way. The node's address in the network of the API VIP is one that they reach as they
// reach that VIP, and it stays while the pod is here, as no VIP does. Copied has what the pod has
// copied out of its images.
func ironicNode(p plan.Plan, links addr.Snapshot, copied string) (on reads.Node, err error) {
	vip, _ := metal3.NodeMedia(p)
	if !vip.IsValid() {
		return on, nil
	}
	choice, err := addr.ForVIP(links, vip, append(p.VIPs.All(), p.Provisioning.IP), nil)
	if err != nil {
		return on, fmt.Errorf("choose the address from which BMCs fetch virtual media: %w", err)
	}
	on.Media = choice.Address
	loader := filepath.Join(copied, filepath.Base(layout.Loader))
	on.GRUB, err = loaderConfig(loader)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("images.%s has no boot loader of virtual media (%s): choose another one, "+
			"or a bmc.address by which hosts boot by PXE", spec.IronicImage,
			strings.Join(programs.Loader(), ", "))
	}
	return on, err
}

// writeWorkload writes what the other containers read. given has what the pod mounts.
func writeWorkload(p plan.Plan, own identity.Bundle, on reads.Node, given string) error {
	on.Certificate = own[identity.CertificateKey]
	files, err := reads.Files(p, on)
	if err != nil {
		return err
	}
	for _, dir := range []string{layout.Ironic, layout.Database} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for _, dir := range []string{layout.Images, layout.TFTP} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			return err
		}
		if _, err := file.WriteIfChanged(f.Path, f.Contents, f.Mode); err != nil {
			return err
		}
	}
	return errors.Join(identity.Machine().Place(own), writeTrusted(given))
}

// writeTrusted writes the certificates by which Ironic verifies BMCs, if some are given, and
// adds those that its image trusts, which are for image servers.
func writeTrusted(given string) error {
	ca, err := os.ReadFile(filepath.Join(given, workload.BMCCA))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	trusted, absent := os.ReadFile(filepath.Join(layout.Copied, workload.Bundle))
	if errors.Is(absent, fs.ErrNotExist) {
		absent = nil
	}
	if err := errors.Join(err, absent); err != nil {
		return err
	}
	_, err = file.WriteIfChanged(layout.BMCCA, slices.Concat(ca, []byte("\n"), trusted), 0o644)
	return err
}
