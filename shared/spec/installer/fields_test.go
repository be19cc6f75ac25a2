package installer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/installer"
)

// TestKnownFields holds that no field which is read is reported as unknown.
func TestKnownFields(t *testing.T) {
	for _, p := range []string{"baremetal", "nutanix", "openstack", "ovirt", "vsphere"} {
		fields := installer.PlatformFields(p)
		if len(fields) < 10 {
			t.Fatalf("%s: only %d fields are known", p, len(fields))
		}
		read := []string{"apiVIPs", "ingressVIPs", "apiVIP", "ingressVIP", "loadBalancer"}
		if p == "ovirt" {
			read = []string{"api_vips", "ingress_vips", "api_vip", "ingress_vip", "loadBalancer"}
		}
		for _, name := range read {
			if !slices.Contains(fields, name) {
				t.Errorf("%s.%s is read and not known", p, name)
			}
		}
		text := "apiVersion: v1\nbaseDomain: example.com\nmetadata:\n  name: prod\nplatform:\n  " + p + ":\n"
		for _, name := range fields {
			text += fmt.Sprintf("    %s:\n", name)
		}
		_, findings := spec.Parse("c", []byte(text), spec.Knobs{})
		for _, f := range findings {
			if strings.Contains(f.Text, "no such field") {
				t.Errorf("%s: %s", p, f)
			}
		}
	}
}
