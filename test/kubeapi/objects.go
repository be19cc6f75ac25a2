package kubeapi

import (
	"net/netip"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/manifest"
)

// Plan is of a cluster on bare metal with a VIP of each kind, whose nodes the API knows.
func Plan() plan.Plan {
	return plan.Plan{
		Shape: plan.Shape{Platform: spec.BareMetal},
		Nodes: spec.Nodes{
			Namespace:         "openshift-kni-infra",
			ControlPlaneLabel: "node-role.kubernetes.io/master",
		},
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		VIPs: plan.VIPs{
			API:     []netip.Addr{netip.MustParseAddr("192.0.2.5")},
			Ingress: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		},
	}
}

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
