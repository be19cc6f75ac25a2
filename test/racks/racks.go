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
	Both   bool // hosts elect holders of the VIPs too, in the first rack's network
	Named  bool // all racks are in that network, and have names
}

// Fabrics are different ones.
func Fabrics() map[string]Fabric {
	return map[string]Fabric{
		"two racks":       {Racks: []int{2, 1}, Depth: 1, Mode: routing.ECMP, Timing: bgp.ProfileLan},
		"leaves apart":    {Racks: []int{2, 2}, Depth: 1, Mode: routing.ECMP, Timing: bgp.ProfileLan, Apart: true},
		"one rack":        {Racks: []int{2}, Depth: 1, Mode: routing.ECMP, Timing: bgp.ProfileLan},
		"one router":      {Racks: []int{1}, Depth: 1, Mode: routing.ECMP, Timing: bgp.ProfileLan},
		"three racks":     {Racks: []int{1, 1, 1}, Depth: 1, Mode: routing.ECMP, Timing: bgp.ProfileVM},
		"ranked":          {Racks: []int{2, 2}, Depth: 1, Mode: routing.Preferred, Timing: bgp.ProfileLan},
		"super-spines":    {Racks: []int{2, 1, 2, 1}, Depth: 2, Mode: routing.ECMP, Timing: bgp.ProfileLan},
		"without BFD":     {Racks: []int{2, 1}, Depth: 1, Mode: routing.ECMP, Timing: bgp.ProfileHold},
		"ranked and deep": {Racks: []int{1, 2, 1}, Depth: 2, Mode: routing.Preferred, Timing: bgp.ProfileVM},
	}
}

// Elected are those in which hosts elect holders of the VIPs too.
func Elected() map[string]Fabric {
	return map[string]Fabric{
		"one rack":     {Racks: []int{2}, Depth: 1, Timing: bgp.ProfileLan, Both: true},
		"one router":   {Racks: []int{1}, Depth: 1, Timing: bgp.ProfileVM, Both: true},
		"leaves apart": {Racks: []int{2, 1}, Depth: 1, Timing: bgp.ProfileLan, Apart: true, Both: true},
		"stretched":    {Racks: []int{1, 2}, Depth: 1, Timing: bgp.ProfileVM, Both: true, Named: true},
		"deep":         {Racks: []int{2, 1, 1}, Depth: 2, Timing: bgp.ProfileLan, Both: true},
		"without BFD":  {Racks: []int{1, 1}, Depth: 1, Timing: bgp.ProfileHold, Both: true},
	}
}

// Describe is a description of three control plane nodes in a fabric.
func (f Fabric) Describe() string {
	var networks []string
	racks := ""
	for i, routers := range f.Racks {
		network := i
		if f.Named {
			network = 0
			racks += fmt.Sprintf("    - name: r%d\n      peers:\n", i)
		} else {
			racks += fmt.Sprintf("    - network: 10.1.%d.0/24\n      peers:\n", i)
		}
		if networks = append(networks, fmt.Sprintf("10.1.%d.0/24", network)); f.Named {
			networks = networks[:1]
		}
		for j := range routers {
			number := 65100 + 10*i
			if f.Apart {
				number += j
			}
			racks += fmt.Sprintf("      - {address: 10.1.%d.%d, asn: %d}\n", network, 10*i+j+10, number)
		}
	}
	vips, management, mode := "198.51.100.", "bgp", "\n    mode: "+f.Mode
	if f.Both {
		vips, management, mode = "10.1.0.", "both", ""
	}
	return fmt.Sprintf(`apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: c}
spec:
  baseDomain: example.com
  platform: baremetal
  controlPlaneReplicas: 3
  machineNetworks: [%[1]s]
  apiVIPs: [%[2]s5]
  ingressVIPs: [%[2]s6]
  vipManagement: %[3]s
  bgp:
    asn: 64512%[4]s
    timing: %[5]s
    fabricDepth: %[6]d
    racks:
%[7]s`, strings.Join(networks, ", "), vips, management, mode, f.Timing, f.Depth, racks)
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
