// Package racks has plans of clusters that announce their VIPs to routers, for tests.
package racks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
)

// Fabric is where hosts are, and how they announce.
type Fabric struct {
	Racks  []int // how many routers each rack has
	Depth  int
	Mode   string
	Timing string
	Apart  bool // the routers of a rack have different AS numbers
}

// Fabrics are different ones.
func Fabrics() map[string]Fabric {
	return map[string]Fabric{
		"two racks":       {Racks: []int{2, 1}, Depth: 1, Mode: routing.ECMP, Timing: bgp.ProfileLan},
		"leaves apart":    {Racks: []int{2, 2}, Depth: 1, Mode: routing.ECMP, Timing: bgp.ProfileLan, Apart: true},
		"one rack":        {Racks: []int{2}, Depth: 1, Mode: routing.ECMP, Timing: bgp.ProfileLan},
		"three racks":     {Racks: []int{1, 1, 1}, Depth: 1, Mode: routing.ECMP, Timing: bgp.ProfileVM},
		"ranked":          {Racks: []int{2, 2}, Depth: 1, Mode: routing.Preferred, Timing: bgp.ProfileLan},
		"super-spines":    {Racks: []int{2, 1, 2, 1}, Depth: 2, Mode: routing.ECMP, Timing: bgp.ProfileLan},
		"without BFD":     {Racks: []int{2, 1}, Depth: 1, Mode: routing.ECMP, Timing: bgp.ProfileHold},
		"ranked and deep": {Racks: []int{1, 2, 1}, Depth: 2, Mode: routing.Preferred, Timing: bgp.ProfileVM},
	}
}

// Describe is a description of three control plane nodes in a fabric.
func (f Fabric) Describe() string {
	var networks []string
	racks := ""
	for i, routers := range f.Racks {
		networks = append(networks, fmt.Sprintf("10.1.%d.0/24", i))
		racks += fmt.Sprintf("    - network: 10.1.%d.0/24\n      peers:\n", i)
		for j := range routers {
			number := 65100 + 10*i
			if f.Apart {
				number += j
			}
			racks += fmt.Sprintf("      - {address: 10.1.%d.%d, asn: %d}\n", i, j+1, number)
		}
	}
	return fmt.Sprintf(`apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: c}
spec:
  baseDomain: example.com
  platform: baremetal
  controlPlaneReplicas: 3
  machineNetworks: [%s]
  apiVIPs: [198.51.100.5]
  ingressVIPs: [198.51.100.6]
  vipManagement: bgp
  bgp:
    asn: 64512
    mode: %s
    timing: %s
    fabricDepth: %d
    racks:
%s`, strings.Join(networks, ", "), f.Mode, f.Timing, f.Depth, racks)
}

// Plan is its plan.
func (f Fabric) Plan(t testing.TB) plan.Plan {
	t.Helper()
	c, _ := spec.Parse("cluster.yaml", []byte(f.Describe()), spec.Knobs{}) // Compile finds what is wrong
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
