package plan

import (
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestAssumedVIPs holds the virtual IPs of an OpenStack cluster that names none: the installer's,
// and the plan marks them as assumed.
func TestAssumedVIPs(t *testing.T) {
	for _, tt := range []struct {
		name         string
		change       func(*spec.Cluster)
		api, ingress string
		assumed      []string
	}{
		{"none", func(*spec.Cluster) {}, "192.0.2.5", "192.0.2.7", []string{"api", "ingress"}},
		{"no machine network either", func(c *spec.Cluster) { c.MachineNetworks = nil }, "10.0.0.5", "10.0.0.7", []string{"api", "ingress"}},
		{"a part of a network", func(c *spec.Cluster) { c.MachineNetworks = networks("192.0.2.64/28") }, "192.0.2.69", "192.0.2.71", []string{"api", "ingress"}},
		{"IPv6 first", func(c *spec.Cluster) { c.MachineNetworks = networks("2001:db8::/64", "192.0.2.0/24") }, "2001:db8::5", "2001:db8::7", []string{"api", "ingress"}},
		{"the API's is written", func(c *spec.Cluster) { c.APIVIPs = addresses("192.0.2.9") }, "192.0.2.9", "192.0.2.7", []string{"ingress"}},
		{"both are written", func(c *spec.Cluster) { c.APIVIPs, c.IngressVIPs = addresses("192.0.2.9"), addresses("192.0.2.8") }, "192.0.2.9", "192.0.2.8", nil},
		{"another platform", func(c *spec.Cluster) { c.Platform = spec.VSphere }, "", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := smallest()
			c.Platform, c.APIVIPs, c.IngressVIPs, c.MachineNetworks = spec.OpenStack, nil, nil, networks("192.0.2.0/24")
			tt.change(&c)
			p := mustCompile(t, c)
			first := func(list []string) string { return append(list, "")[0] }
			if api, ingress := first(texts(p.VIPs.API)), first(texts(p.VIPs.Ingress)); api != tt.api || ingress != tt.ingress {
				t.Errorf("got %s and %s, want %s and %s", api, ingress, tt.api, tt.ingress)
			}
			if !slices.Equal(p.VIPs.Assumed, tt.assumed) {
				t.Errorf("assumed %v, want %v", p.VIPs.Assumed, tt.assumed)
			}
			if managed := p.LoadBalancer == spec.Managed; managed != (tt.api != "") {
				t.Errorf("the balancer is %s", p.LoadBalancer)
			}
			host := reread(t, Encode(p))
			if !slices.Equal(host.VIPs.All(), p.VIPs.All()) || host.VIPs.Assumed != nil || string(Encode(host)) != string(Encode(p)) {
				t.Errorf("a host reads %+v of\n%s", host.VIPs, Encode(p))
			}
		})
	}
}
