// Package provisioned has plans of clusters whose hosts are provisioned, for tests.
package provisioned

import (
	"fmt"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Sharings are those of the provisioning address, each with the platform that has it.
func Sharings() map[string]string { return map[string]string{"one": "none", "two": "baremetal"} }

// Describe is a description of three control plane nodes and two workers.
func Describe(sharing string) string {
	text := `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: c}
spec:
  baseDomain: example.com
  platform: ` + Sharings()[sharing] + `
  machineNetworks: [192.0.2.0/24]
  controlPlaneReplicas: 3
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
  provisioning: {network: managed, address: ` + sharing + `}
  hosts:
`
	for i, name := range []string{"master-0", "master-1", "master-2", "worker-0", "worker-1"} {
		text += fmt.Sprintf("  - {name: %s, role: %s, bootMAC: \"52:54:00:00:00:%02x\", bmc: {address: \"redfish://198.51.100.%d/redfish/v1/Systems/1\", credentials: {file: bmc.yaml}}}\n",
			name, name[:6], i+1, i+1)
	}
	return text
}

// Plan is its plan.
func Plan(t testing.TB, sharing string) plan.Plan {
	t.Helper()
	c, _ := spec.Parse("cluster.yaml", []byte(Describe(sharing)), spec.Knobs{}) // Compile finds what is wrong
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
