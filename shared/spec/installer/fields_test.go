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

// TestKnownFields_Routers holds that the words of newer and of older installers for routers are known, and that
// another one is reported, of routers of all hosts and of one.
func TestKnownFields_Routers(t *testing.T) {
	for name, want := range map[string]string{"failureDetection: BFD": "", `bfdEnabled: "true"`: "", "holdTimeSeconds: 9, keepaliveTimeSeconds: 3": "", "peerReachability: DirectlyConnected": "", "holdTimer: 9": "no such field"} {
		router := "[{peerAddress: 192.0.2.1, peerASN: 65101, " + name + "}]"
		text := "apiVersion: v1\nbaseDomain: example.com\nmetadata: {name: prod}\ncontrolPlane: {replicas: 3}\nnetworking: {machineNetwork: [{cidr: 192.0.2.0/24}]}\nplatform:\n  baremetal:\n    apiVIPs: [198.51.100.5]\n" +
			"    ingressVIPs: [198.51.100.6]\n    bgpVIPConfig: {localASN: 64512, peers: " + router + "}\n    hosts: [{name: m0, role: master, bootMACAddress: '52:54:00:00:00:01', bgpPeers: " + router + "}]\n"
		_, findings := spec.Parse("c", []byte(text), spec.Knobs{})
		reported := 0
		for _, f := range findings {
			if strings.Contains(f.Text, "no such field") {
				reported++
			}
		}
		if findings.HasErrors() || reported != map[string]int{"": 0, "no such field": 2}[want] {
			t.Errorf("%s: %v", name, findings)
		}
	}
}
