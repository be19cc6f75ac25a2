package cluster

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/pod"
)

// Manifests are Objects as files in one directory, whose names are in the order in which they are to be applied. Where no pod of ours runs there
// is none of them. It needs no images.
func Manifests(p plan.Plan) (asset.Set, error) {
	b := asset.Builder{By: "cluster"}
	if len(p.VIPs.API) == 0 {
		return b.Set()
	}
	for i, o := range Objects(p) {
		about, err := meta.Accessor(o)
		if err != nil {
			return asset.Set{}, fmt.Errorf("name object %d of the cluster: %w", i+1, err)
		}
		name := strings.ToLower(o.GetObjectKind().GroupVersionKind().Kind)
		if namespace := about.GetNamespace(); namespace != "" {
			name += "-" + namespace
		}
		b.File(fmt.Sprintf("/%02d-%s.yaml", i+1, name), 0o644, pod.Encode(o))
	}
	return b.Set()
}
