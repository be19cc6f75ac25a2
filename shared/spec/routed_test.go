package spec

import (
	"net/netip"
	"slices"
	"testing"
)

// TestParse_VIPNetwork holds that a machine network that an install-config has for virtual IPs alone is none of the
// hosts', and that what is left of the cluster is one that every host reads.
func TestParse_VIPNetwork(t *testing.T) {
	c, findings := Parse("c", []byte(`apiVersion: v1
baseDomain: example.com
metadata: {name: prod}
controlPlane: {replicas: 3}
networking: {machineNetwork: [{cidr: 10.1.0.0/24}, {cidr: 198.51.100.0/24}]}
platform:
  baremetal:
    apiVIPs: [198.51.100.5]
    ingressVIPs: [198.51.100.6]
    bgpVIPConfig: {localASN: 64512, peers: [{peerAddress: 10.1.0.1, peerASN: 65101, failureDetection: BFD}]}
`), Knobs{})
	want := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/24")}
	if len(findings) > 0 || !slices.Equal(c.MachineNetworks, want) || len(c.Routing.BGP.Racks) != 1 {
		t.Errorf("%v, %v, %+v", findings, c.MachineNetworks, c.Routing.BGP.Racks)
	}
	if again := Check(c); len(again) > 0 {
		t.Errorf("what a host reads: %v", again)
	}
}

// TestCheck_WithoutNetworks holds that a description without machine networks, whose racks have names alone, is one
// that every host reads, as Parse accepts it.
func TestCheck_WithoutNetworks(t *testing.T) {
	c, findings := Parse("c", []byte(`apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  baseDomain: example.com
  platform: baremetal
  controlPlaneReplicas: 3
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
  vipManagement: both
  bgp: {asn: 64512, racks: [{name: a, peers: [{address: 192.0.2.1, asn: 65101}]}]}
`), Knobs{})
	if again := Check(c); len(findings)+len(again) > 0 {
		t.Errorf("%v; what a host reads: %v", findings, again)
	}
}
