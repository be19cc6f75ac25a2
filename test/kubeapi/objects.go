package kubeapi

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/test/manifest"
)

// Objects are what a cluster must have once, as "render --role=cluster" writes it and the API reads it, in the order in which it is applied.
func Objects(p plan.Plan) []runtime.Object {
	set, err := cluster.Manifests(p)
	if err != nil {
		panic("kubeapi: " + err.Error())
	}
	list, err := manifest.Objects(set)
	if err != nil {
		panic("kubeapi: " + err.Error())
	}
	return list
}
