package mco

import (
	"bytes"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// The files below install/ in the operator's tree are in its image, and the cluster version
// operator applies them in every cluster, sorted by number. The operator creates the namespaces of
// all platforms at 0000_80. Another operator creates that of the routers during the installation,
// so its objects come last, where nothing waits for them.
const (
	GrantsFile  = "/install/0000_80_machine-config_00_onprem-infra.yaml"
	RoutersFile = "/install/0000_90_machine-config_01_onprem-infra-routers.yaml"
)

// profiles are the annotations for clusters with on-premise platforms: the cluster version operator
// applies the objects of its profile.
var profiles = map[string]string{
	"include.release.openshift.io/self-managed-high-availability": "true",
	"include.release.openshift.io/single-node-developer":          "true",
}

// platforms are those with templates of ours.
var platforms = []spec.Platform{
	spec.BareMetal, spec.Nutanix, spec.OpenStack, spec.OVirt, spec.VSphere,
}

// install writes the objects that give nodes their rights, on all platforms.
func install(b *asset.Builder, p plan.Plan) {
	files := map[string]*bytes.Buffer{GrantsFile: {}, RoutersFile: {}}
	done := map[string]bool{}
	for _, platform := range platforms {
		for _, o := range cluster.Grants(onPlatform(p, platform)) {
			file := files[GrantsFile]
			if o.About().Metadata.Namespace == health.RouterNamespace {
				file = files[RoutersFile]
			}
			if text := string(object.Encode(marked(o))); !done[text] {
				done[text] = true
				file.WriteString("---\n" + text)
			}
		}
	}
	for at, text := range files {
		b.File(at, 0o644, text.Bytes())
	}
}

// marked is an object that the cluster version operator applies.
func marked(o object.Object) object.Object {
	switch o := o.(type) {
	case object.Role:
		o.Metadata.Annotations = profiles
		return o
	case object.Binding:
		o.Metadata.Annotations = profiles
		return o
	}
	return o
}
