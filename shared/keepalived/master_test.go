package keepalived

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// scripts are how today's clusters run the checks; their weights are the policy's.
var scripts = []Check{
	{Name: vrrp.CheckLB, Command: "/etc/keepalived/chk_ocp_script.sh", Interval: 2 * time.Second, Timeout: 1900 * time.Millisecond, Rise: 3, Fall: 3},
	{Name: vrrp.CheckBoth, Command: "/etc/keepalived/chk_ocp_script_both.sh", Interval: 2 * time.Second, Timeout: 1900 * time.Millisecond, Rise: 3, Fall: 3},
	{Name: vrrp.CheckMCS, Command: "/etc/keepalived/chk_mcs_script.sh", Interval: 2 * time.Second, Timeout: 1900 * time.Millisecond, Rise: 3, Fall: 3},
	{Name: vrrp.CheckIngress, Command: "/etc/keepalived/chk_ingress.sh", Interval: time.Second, Timeout: 900 * time.Millisecond, Rise: 3, Fall: 2},
	{Name: vrrp.CheckIngressReady, Command: "/etc/keepalived/chk_ingress_ready.sh", Interval: time.Second, Timeout: 900 * time.Millisecond, Rise: 3, Fall: 2},
	{Name: vrrp.CheckDefaultIngress, Command: "/etc/keepalived/chk_default_ingress.sh", Interval: 5 * time.Second, Timeout: 4900 * time.Millisecond, Rise: 3, Fall: 2},
}

// master is one of three control plane nodes as clusters run them today: both VIPs, unicast,
// tracked scripts.
func master() Config {
	policy, config := vrrp.Compat(), Config{Header: header}
	weigh := func(c vrrp.Candidates) (names []vrrp.CheckName) {
		for _, w := range c.Weights {
			for _, check := range scripts {
				if check.Name == w.Check {
					check.Weight = w.Adds
					config.Checks = append(config.Checks, check)
				}
			}
			names = append(names, w.Check)
		}
		return names
	}
	api := unicast(bootstrap("ostest_API_0", "192.0.2.5"), "192.0.2.11", "192.0.2.12", "192.0.2.13")
	api.Priority, api.Checks = policy.ControlPlane.Base, weigh(policy.ControlPlane)
	ingress := unicast(bootstrap("ostest_INGRESS_0", "192.0.2.6"), "192.0.2.11", "192.0.2.12", "192.0.2.13")
	ingress.ID, ingress.AuthPass = 93, vrrp.CompatAuth("ostest", vrrp.Ingress)
	ingress.Priority, ingress.Checks = policy.Ingress.Base, weigh(policy.Ingress)
	config.Instances = []Instance{api, ingress}
	return config
}

// tracked is such a node whose health comes by file, for the API VIP.
func tracked() Config {
	policy, config := vrrp.Compat(), Config{Header: header, NotifyFIFO: fifo, Leave: leave}
	api := unicast(bootstrap("ostest_API_0", "192.0.2.5"), "192.0.2.11", "192.0.2.12", "192.0.2.13")
	api.Priority = policy.ControlPlane.Base
	for _, w := range policy.ControlPlane.Weights {
		config.Tracks = append(config.Tracks, Track{Name: w.Check, File: Path("/run/onprem-infra/keepalived/track/" + w.Check), Weight: w.Adds})
		api.Tracks = append(api.Tracks, w.Check)
	}
	config.Instances = []Instance{api}
	return config
}
