//go:build remote

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/cluster/workload"
	"github.com/onprem-infra/onprem-infra/cluster/workload/reads"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/identity"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

func monitorIronicCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ironic",
		Short: "Write what the cluster's Ironic reads, and end",
		Long: `ironic writes the configuration of the Ironic that runs in the cluster, the scripts
by which hosts boot, and Ironic's certificate and account, and ends. It makes the certificate and
the account if the Secret metal3-ironic does not have them yet, or if the certificate ends within a
year or lacks a name; otherwise they stay, on whichever node the pod runs. It prints neither. It
runs before Ironic in the pod of the Deployment metal3-ironic, with an account that may change that
one Secret and nothing else.`,
		Example: `  onprem-infra monitor ironic`,
		Args:    cobra.NoArgs,
	}
	m := monitorFlags(cmd, "cluster/workload", std)
	m.kubeconfigFlag(cmd)
	cmd.Flags().Lookup("kubeconfig").Usage = "credentials for the Secret (default: those of the " +
		"pod's service account)"
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, _ string) error {
		if !workload.Runs(p) {
			return errNotShared
		}
		api, err := m.podAPI()
		if err != nil {
			return err
		}
		own, err := identityOf(ctx, api, p)
		if err != nil {
			return err
		}
		return writeWorkload(p, own, filepath.Dir(m.cluster))
	})
	return cmd
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

// identityOf is Ironic's identity, which the Secret has afterwards.
func identityOf(ctx context.Context, api *kube.API, p plan.Plan) (own identity.Bundle, err error) {
	err = api.Change(ctx, metal3.Namespace(p), workload.Identity,
		func(now map[string][]byte) (map[string][]byte, error) {
			var err error
			own, _, err = identity.Bundle(now).Complete(reads.TLSNames(p), time.Now())
			return own, err
		})
	return own, err
}

// writeWorkload writes what the other containers read. given has what the pod mounts.
func writeWorkload(p plan.Plan, own identity.Bundle, given string) error {
	files, err := reads.Files(p, own[identity.CertificateKey])
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

// writeTrusted writes the certificates by which Ironic verifies BMCs, if some are given: beside
// them those that its image trusts, which are for servers of images.
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
