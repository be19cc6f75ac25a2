package kubeapi

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/test/manifest"
)

// Objects are the objects that a cluster needs once, as the API decodes them, in the order in which
// they are applied.
func Objects(p plan.Plan) []runtime.Object {
	var list []runtime.Object
	for _, o := range cluster.Objects(p) {
		read, err := manifest.Object(object.Encode(o))
		if err != nil {
			panic("kubeapi: an object of the cluster's is none of the API's: " + err.Error())
		}
		list = append(list, read)
	}
	return list
}
