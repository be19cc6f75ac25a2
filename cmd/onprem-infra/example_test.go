package main

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// ownFields are fields that only the example of that platform has.
var ownFields = map[spec.Platform]string{
	spec.BareMetal: "bootMACAddress:", spec.Nutanix: "prismCentral:", spec.OpenStack: "externalNetwork:", spec.OVirt: "api_vips:",
	spec.VSphere: "failureDomains:",
}

func TestExampleInstallConfig(t *testing.T) {
	for platform, own := range ownFields {
		for families, vips := range map[string]int{"ipv4": 1, "ipv6": 1, "dual": 2} {
			text := must(t, "", "example", "install-config", "--platform", string(platform), "--families", families)
			if out := must(t, text, "validate", "--strict", "-c", "-"); out != "" {
				t.Errorf("%s %s: %s", platform, families, out)
			}
			cluster, _ := spec.Parse("x", []byte(text), spec.Knobs{})
			if cluster.Platform != platform || len(cluster.APIVIPs) != vips || len(cluster.MachineNetworks) != vips {
				t.Errorf("%s %s: got %+v", platform, families, cluster)
			}
			for other, field := range ownFields {
				if strings.Contains(text, field) != (other == platform) {
					t.Errorf("%s: field %s of %s", platform, own, other)
				}
			}
		}
	}
}

func TestExampleCluster(t *testing.T) {
	for _, platform := range []string{"baremetal", "none", "nutanix", "openstack", "ovirt", "vsphere"} {
		for _, families := range exampleFamilies() {
			text := must(t, "", "example", "cluster", "--platform", platform, "--families", families)
			if out := must(t, text, "validate", "--strict", "-c", "-"); out != "" {
				t.Errorf("%s %s: %s", platform, families, out)
			}
			// What stands behind a # is a field that works.
			full := strings.ReplaceAll(text, "\n  # ", "\n  ")
			if out := must(t, full, "validate", "--strict", "-c", "-"); out != "" || full == text {
				t.Errorf("%s %s with every field: %s", platform, families, out)
			}
		}
	}
}

func TestExampleImages(t *testing.T) {
	images, findings := spec.ParseImages("x", []byte(must(t, "", "example", "images")))
	if len(findings) > 0 || len(images) != 4 {
		t.Errorf("got %v, %v", images, findings)
	}
}
