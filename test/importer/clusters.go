package importer

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// installConfig is that of the nth cluster: no two are alike, and all platforms and families are
// among any fifteen.
func installConfig(n int) []byte {
	platform := []string{"baremetal", "openstack", "ovirt", "vsphere", "nutanix"}[n%5]
	api, ingress := "apiVIPs", "ingressVIPs"
	if platform == "ovirt" {
		api, ingress = "api_vips", "ingress_vips"
	}
	var networks, apis, ingresses string
	add := func(network, vip string) {
		networks += "\n  - cidr: " + network
		apis += "\n    - " + vip + "5"
		ingresses += "\n    - " + vip + "6"
	}
	four, six := fmt.Sprintf("10.%d.%d.", n/250, n%250), fmt.Sprintf("fd00:%x::", n+1)
	families := n / 5 % 3
	if families != 1 {
		add(four+"0/24", four)
	}
	if families != 0 {
		add(six+"/64", six)
	}
	replicas := []int{3, 5}[n%2]
	return fmt.Appendf(nil, "apiVersion: v1\nmetadata:\n  name: c%d\nbaseDomain: example.com\ncontrolPlane:\n  name: master\n  replicas: %d\nnetworking:\n  machineNetwork:%s\nplatform:\n  %s:\n    %s:%s\n    %s:%s\n",
		n, replicas, networks, platform, api, apis, ingress, ingresses)
}

// compiled is the plan of an install-config, as an importer makes it.
func compiled(text []byte) (plan.Plan, error) {
	c, findings := spec.Parse("install-config.yaml", text, spec.Knobs{})
	if findings.HasErrors() {
		return plan.Plan{}, fmt.Errorf("%v", findings)
	}
	c.Images = map[string]string{}
	for _, key := range []string{spec.RuntimeCfgImage, spec.KeepalivedImage, spec.HAProxyImage, spec.CoreDNSImage} {
		c.Images[key] = "registry.example.com/onprem@sha256:8a32e516d7415be524a7fcec482ad2918f2b6ef2a7f4cb8e2e232b3624b1d2f7"
	}
	return plan.Compile(c)
}

// goods are those of all roles of a cluster.
func goods(p plan.Plan) (map[role.Role]asset.Set, error) {
	sets := map[role.Role]asset.Set{}
	for _, r := range p.Roles() {
		var err error
		if r == role.Bootstrap {
			sets[r], err = bootstrap.Assets(p)
		} else {
			sets[r], err = cluster.Assets(p, r)
		}
		if err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// documents are those of all roles of a cluster.
func documents(p plan.Plan) (map[role.Role][]byte, error) {
	sets, err := goods(p)
	if err != nil {
		return nil, err
	}
	out := map[role.Role][]byte{}
	for r, set := range sets {
		if out[r], err = ignition.Encode(set); err != nil {
			return nil, err
		}
	}
	return out, nil
}
