// Package reads has the files that Ironic and the server beside it read in a cluster of any
// Kubernetes.
package reads

import (
	"io/fs"
	"net/netip"
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

// Node is what the files have of the node on which Ironic runs.
type Node struct {
	Certificate []byte // of Ironic, in PEM
	// Media is the address from which BMCs fetch virtual media, and GRUB where the boot loader of
	// these reads its configuration; invalid and empty if no host boots that way.
	Media netip.Addr
	GRUB  string
}

// Files are what Ironic and the server beside it read, but for the identity: the configuration of
// Ironic, the scripts by which hosts boot, and what ramdisks know the certificate by. None of them
// has a secret.
func Files(p plan.Plan, on Node) ([]asset.File, error) {
	s, err := conductor.OnNode(p, on.Media, on.GRUB)
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
		file(path.Join(s.Paths.Images, config.TrustFile), config.TrustArchive(on.Certificate)),
	}, provisioning.Scripts(network)...), nil
}
