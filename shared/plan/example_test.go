package plan_test

import (
	"fmt"
	"log"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// A plan has every value that the description leaves open.
func ExampleCompile() {
	described, findings := spec.Parse("install-config.yaml", []byte(`apiVersion: v1
metadata:
  name: ostest
baseDomain: example.com
networking:
  machineNetwork:
  - cidr: 192.0.2.0/24
platform:
  baremetal:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
`), spec.Knobs{})
	if findings.HasErrors() {
		log.Fatal(findings)
	}
	p, err := plan.Compile(described)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Topology, p.Timing.Profile, p.VRRP.Mode, p.VRRP.API.ID, p.VRRP.Ingress.ID)
	fmt.Println(p.Roles())
	// Output:
	// HighlyAvailable lan unicast 14 93
	// [bootstrap master worker]
}
