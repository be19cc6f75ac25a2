package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

var update = flag.Bool("update", false, "rewrite the golden files")

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
			const dns = "warning: spec.dnsVIP: nothing serves this address yet"
			if out := must(t, full, "validate", "-c", "-"); strings.Count(out, "\n") != 1 || !strings.Contains(out, dns) {
				t.Errorf("%s %s with every field: %s", platform, families, out)
			}
		}
	}
}

// TestExampleText compares the examples to the letter: that each is accepted does not show that it still says everything.
func TestExampleText(t *testing.T) {
	golden(t, "images", must(t, "", "example", "images"))
	for kind, platforms := range map[string]string{
		"install-config": "baremetal nutanix openstack ovirt vsphere",
		"cluster":        "baremetal none nutanix openstack ovirt vsphere",
	} {
		for platform := range strings.FieldsSeq(platforms) {
			for _, families := range exampleFamilies() {
				text := must(t, "", "example", kind, "--platform", platform, "--families", families)
				golden(t, kind+"-"+platform+"-"+families, text)
			}
		}
	}
}

// golden compares a text with testdata/TEST/NAME.golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", t.Name(), name+".golden")
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestExampleImages(t *testing.T) {
	images, findings := spec.ParseImages("x", []byte(must(t, "", "example", "images")))
	if len(findings) > 0 || len(images) != 4 {
		t.Errorf("got %v, %v", images, findings)
	}
}
