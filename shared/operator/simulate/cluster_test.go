package simulate

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// described is a cluster of three masters.
const described = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: c}
spec:
  timingProof: {a: 900, b: 1100, c: 2000}
  baseDomain: example.com
  platform: none
  machineNetworks: [192.0.2.0/24]
  controlPlaneReplicas: 3
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
`

// TestClusterOf holds what is simulated of which cluster, and where there is nothing to
// simulate.
func TestClusterOf(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(*spec.Cluster)
		masters int
		err     string
	}{
		{"three", func(*spec.Cluster) {}, 3, ""},
		{"five", func(c *spec.Cluster) { c.ControlPlaneReplicas = 5 }, 5, ""},
		{"seven", func(c *spec.Cluster) { c.ControlPlaneReplicas = 7 }, 7, ""},
		{"a thousand", func(c *spec.Cluster) { c.ControlPlaneReplicas = 1000 }, 0, "simulate takes at most 50"},
		{"two", func(c *spec.Cluster) { c.Topology, c.ControlPlaneReplicas = spec.DualReplica, 2 }, 2, ""},
		{"one", func(c *spec.Cluster) { c.Topology, c.ControlPlaneReplicas = spec.SingleReplica, 1 }, 0, "one control plane node"},
		{"a balancer of the user's own", func(c *spec.Cluster) { c.LoadBalancer = spec.UserManaged }, 0, "not held by its own hosts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, findings := spec.Parse("cluster", []byte(described), spec.Knobs{})
			if findings.HasErrors() {
				t.Fatal(findings)
			}
			tt.change(&c)
			p, err := plan.Compile(c)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ClusterOf(p, c.ControlPlaneReplicas)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || got.Masters != tt.masters || got.Timing.Profile != p.Timing.Profile {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
