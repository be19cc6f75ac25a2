package bootstrap_test

import (
	"fmt"
	"log"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// An installer that has an install-config in memory asks for what the bootstrap machine needs, and
// merges the document into its own.
func Example() {
	installConfig := []byte(`
apiVersion: v1
metadata:
  name: prod
baseDomain: example.com
networking:
  machineNetwork:
  - cidr: 192.0.2.0/24
platform:
  baremetal:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
`)
	cluster, findings := spec.Parse("install-config.yaml", installConfig, spec.Knobs{})
	if findings.HasErrors() {
		log.Fatal(findings)
	}
	cluster.Images = map[string]string{
		spec.RuntimeCfgImage: "registry.example.com/onprem-infra:1",
		spec.KeepalivedImage: "registry.example.com/keepalived:2",
		spec.CoreDNSImage:    "registry.example.com/coredns:1",
	}
	p, err := plan.Compile(cluster)
	if err != nil {
		log.Fatal(err)
	}
	set, err := bootstrap.Assets(p)
	if err != nil {
		log.Fatal(err)
	}
	for _, unit := range set.Units() {
		fmt.Println(unit.Name, unit.Enabled)
	}
	document, err := ignition.Encode(set)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(document[:13]))
	// Output:
	// onprem-coredns.service true
	// onprem-install.service true
	// onprem-keepalived.service true
	// onprem-resolv-changed.service false
	// onprem-resolv.path true
	// onprem-resolv.service true
	// podman.service false
	// podman.socket true
	// {"ignition":{
}
