package spec

import (
	"strings"
	"testing"
)

// TestAssumedVIPs holds the virtual IPs that the installer takes on OpenStack to the rules of those
// that are written: they are found fault with where the lists are missing.
func TestAssumedVIPs(t *testing.T) {
	head, _, _ := strings.Cut(goodInstallConfig, "\nplatform:")
	for _, tt := range []struct{ name, network, section, want string }{
		{"both", "192.0.2.0/24", "{}", ""},
		{"empty lists", "192.0.2.0/24", "{apiVIPs: [], ingressVIPs: []}", ""},
		{"one of them", "192.0.2.0/24", "{ingressVIPs: [192.0.2.6]}", ""},
		{"the other one has it", "192.0.2.0/24", "{apiVIPs: [192.0.2.7]}",
			"c:11:14: error: platform.openstack.ingressVIPs: 192.0.2.7 is the API's virtual IP too: choose another one, or set the load balancer to UserManaged if yours holds it"},
		{"the edge of the network", "192.0.2.0/29", "{}",
			"c:11:14: error: platform.openstack.ingressVIPs: 192.0.2.7 is the broadcast address of 192.0.2.0/29: choose another address in it"},
		{"no such host", "192.0.2.4/30", "{}",
			"c:11:14: error: platform.openstack.apiVIPs: no virtual IP is given for the API and none is assumed: write its address\n" +
				"c:11:14: error: platform.openstack.ingressVIPs: no virtual IP is given for ingress and none is assumed: write its address"},
		{"a balancer of the user's own", "192.0.2.0/24", "{loadBalancer: {type: UserManaged}, apiVIPs: [192.0.2.9]}",
			"c:11:14: error: platform.openstack.ingressVIPs: no virtual IP is given for ingress and none is assumed: write its address"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(head, "192.0.2.0/24", tt.network, 1) + "\nplatform:\n  openstack: " + tt.section + "\n"
			cluster, findings := Parse("c", []byte(text), Knobs{})
			hold(t, text, findings)
			if got := strings.TrimSuffix(lines(findings), "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if len(cluster.APIVIPs) > 0 {
				t.Errorf("an assumed address became one of the user: %v", cluster.APIVIPs)
			}
		})
	}
}
