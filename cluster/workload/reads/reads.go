// Package reads has the files that Ironic and the server beside it read in a cluster of any
// Kubernetes.
package reads

import (
	"io/fs"
	"path"

	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/cluster/workload"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/conductor"
	config "github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/served"
)

// TLSNames are the names and addresses that Ironic's certificate is for: those of each URL in the
// plan, and those of the Service, by which metal3's operator reaches it.
func TLSNames(p plan.Plan) []string {
	of := workload.Ironic + "." + metal3.Namespace(p)
	return append(append([]string{}, p.Provisioning.TLSNames...), workload.Ironic, of, of+".svc")
}

// Files are what Ironic and the server beside it read, but for the identity: the configuration of
// Ironic, the scripts by which hosts boot, and what ramdisks know the certificate by, which is in
// PEM. None of them has a secret.
func Files(p plan.Plan, certificate []byte) ([]asset.File, error) {
	s, err := conductor.Settings(p, provision.Cluster, "")
	if err != nil {
		return nil, err
	}
	file := func(path string, contents []byte) asset.File {
		const everyone fs.FileMode = 0o644
		return asset.File{Path: path, Mode: everyone, Contents: contents,
			By: "cluster/workload/reads"}
	}
	network, _ := served.Network(p.Provisioning, provision.Cluster, served.Place{
		HTTPPort: p.Ports[port.ProvisioningHTTP], Programs: served.Programs()})
	return append([]asset.File{
		file(layout.IronicConf, config.Config(s)),
		file(s.Paths.Template, config.Template(s)),
		file(s.Paths.Script, config.Script()),
		file(path.Join(s.Paths.Images, config.TrustFile), config.TrustArchive(certificate)),
	}, provisioning.Scripts(network)...), nil
}
