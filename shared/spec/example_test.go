package spec_test

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// All that is wrong is reported at once, each with its place and with what to do.
func ExampleParse() {
	_, findings := spec.Parse("cluster.yaml", []byte(`apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata:
  name: lab
spec:
  baseDomain: example.com
  platform: none
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.5]
  timing: quick
`), spec.Knobs{})
	for _, f := range findings {
		fmt.Println(f)
	}
	// Output:
	// cluster.yaml:10:17: error: spec.ingressVIPs[0]: 192.0.2.5 is the API's virtual IP too: choose another one, or set the load balancer to UserManaged if yours holds it
	// cluster.yaml:11:11: error: spec.timing: "quick" is not known: write one of fast, lan, vm, compat
}
