package cluster_test

import (
	"fmt"
	"log"
	"path"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// A program that makes machines for any Kubernetes asks for what a control plane node needs. It
// gets files with their contents and modes, and says itself how they come to the machine.
func ExampleAssets() {
	described, findings := spec.Parse("cluster.yaml", []byte(`
apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata:
  name: lab
spec:
  baseDomain: example.com
  platform: none
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
  images:
    baremetalRuntimeCfgImage: registry.example.com/onprem-infra:1
    keepalivedImage: registry.example.com/keepalived:2
    haproxyImage: registry.example.com/haproxy:3
    corednsImage: registry.example.com/coredns:1
`), spec.Knobs{})
	if findings.HasErrors() {
		log.Fatal(findings)
	}
	p, err := plan.Compile(described)
	if err != nil {
		log.Fatal(err)
	}
	set, err := cluster.Assets(p, role.Master)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range set.Tree() {
		if path.Dir(f.Path) == "/etc/kubernetes/manifests" {
			fmt.Println(f.Mode, f.Path)
		}
	}
	// Output:
	// -rw-r--r-- /etc/kubernetes/manifests/coredns.yaml
	// -rw-r--r-- /etc/kubernetes/manifests/haproxy.yaml
	// -rw-r--r-- /etc/kubernetes/manifests/keepalived.yaml
}
