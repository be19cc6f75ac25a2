package cluster

import (
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Manifests are Objects as files in one directory, whose names sort in the order of application.
// Without pods of ours there are none. It needs no images.
func Manifests(p plan.Plan) (asset.Set, error) {
	b := asset.Builder{By: "cluster"}
	if len(p.VIPs.API) == 0 {
		return b.Set()
	}
	for i, o := range Objects(p) {
		about := o.About()
		name := strings.ToLower(about.Kind)
		if namespace := about.Metadata.Namespace; namespace != "" {
			name += "-" + namespace
		}
		b.File(fmt.Sprintf("/%02d-%s.yaml", i+1, name), 0o644, object.Encode(o))
	}
	return b.Set()
}
