package cluster

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/cluster/workload"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// Manifests are Objects as files in one directory, whose names sort in the order of application.
// Without pods of ours there are none. It needs no images.
func Manifests(p plan.Plan) (asset.Set, error) {
	b := asset.Builder{By: "cluster"}
	addOwn(&b, p)
	return b.Set()
}

func addOwn(b *asset.Builder, p plan.Plan) {
	if len(p.VIPs.API) == 0 {
		return
	}
	for i, o := range Objects(p) {
		about := o.About()
		name := strings.ToLower(about.Kind)
		if namespace := about.Metadata.Namespace; namespace != "" {
			name += "-" + namespace
		}
		b.File(fmt.Sprintf("/%02d-%s.yaml", i+1, name), 0o644, object.Encode(o))
	}
}

// ManifestsWith are Manifests, and beside them the objects of the hosts, if the cluster has
// operators that provision some, behind Ironic where it runs in the cluster by ours. The files of
// kind Secret have mode 0600. The error is a metal3.WrongHosts, or a plan.MissingImages for Ironic.
func ManifestsWith(p plan.Plan, g metal3.Given) (asset.Set, error) {
	b := asset.Builder{By: "cluster"}
	addOwn(&b, p)
	objects, err := metal3.Objects(p, g)
	if err != nil {
		return asset.Set{}, err
	}
	if metal3.Runs(p) {
		if err := p.NeedImages(role.Master, workload.Needs(p)); err != nil {
			return asset.Set{}, err
		}
		o := namespace(p, metal3.Namespace(p))
		b.File("/12-namespace-"+o.About().Metadata.Name+".yaml", 0o644, object.Encode(o))
	}
	for _, o := range slices.Concat(workload.Objects(p, g.CA), objects) {
		path, mode := hostFile(o)
		b.File(path, mode, object.Encode(o))
	}
	return b.Set()
}

// hostFile is the file of an object of the hosts: what names another one is applied after it.
func hostFile(o object.Object) (path string, mode fs.FileMode) {
	about := o.About()
	switch o.(type) {
	case object.Provisioning:
		return "/10-provisioning.yaml", 0o644
	case object.ConfigMap:
		if about.Metadata.Namespace == object.HostNamespace {
			return "/13-configmap-" + about.Metadata.Name + ".yaml", 0o644
		}
		return "/11-configmap-" + about.Metadata.Name + ".yaml", 0o644
	case object.Secret:
		return "/20-secret-" + about.Metadata.Name + ".yaml", 0o600
	case object.ServiceAccount, object.Role, object.Binding, object.Service, object.NetworkPolicy:
		return "/13-" + strings.ToLower(about.Kind) + "-" + about.Metadata.Name + ".yaml", 0o644
	case object.Deployment:
		return "/40-deployment-" + about.Metadata.Name + ".yaml", 0o644
	}
	return "/30-baremetalhost-" + about.Metadata.Name + ".yaml", 0o644
}
