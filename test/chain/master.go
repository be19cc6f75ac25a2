package chain

import (
	"context"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// Master stands in for a control plane node: real keepalived with the configuration that such a
// node has today, on which every check always passes. So it announces the highest priority that it
// ever can.
type Master struct {
	*lab.Host
	*Keepalived
	ip netip.Addr
}

func newMaster(host *lab.Host, i int, dir string) *Master {
	return &Master{Host: host, Keepalived: NewKeepalived(host, dir), ip: masterIPs[i]}
}

// IP is the node's own address.
func (m *Master) IP() string { return m.ip.String() }

// Start runs keepalived as the node does half a minute after the API has listed it beside another
// one.
func (m *Master) Start(ctx context.Context) error {
	config, err := m.config()
	if err != nil {
		return err
	}
	return m.Keepalived.Start(ctx, config)
}

// config is today's API instance: unicast, the peers are the other masters, and the bootstrap
// machine is not among them.
func (m *Master) config() (c keepalived.Config, err error) {
	policy := vrrp.Compat().ControlPlane
	instance, err := instance(policy.Base)
	instance.Source = m.ip
	for _, ip := range masterIPs {
		if ip != m.ip {
			instance.Peers = append(instance.Peers, ip)
		}
	}
	for _, w := range policy.Weights {
		c.Checks = append(c.Checks, keepalived.Check{
			Name: w.Check, Command: "/bin/true", Interval: 2 * time.Second, Timeout: 1900 * time.Millisecond, Rise: 3, Fall: 3, Weight: w.Adds,
		})
		instance.Checks = append(instance.Checks, w.Check)
	}
	c.Instances = []keepalived.Instance{instance}
	return c, err
}

// instance is the cluster's API VIP at a priority, multicast.
func instance(priority vrrp.Priority) (keepalived.Instance, error) {
	id, _, err := vrrp.IDs(Cluster)
	return keepalived.Instance{
		Name: Cluster + "_API_0", Interface: "eth0", ID: id, Version: vrrp.CompatTiming().Version(APIVIP), Priority: priority,
		Advert: time.Second, AuthPass: vrrp.CompatAuth(Cluster, vrrp.API), VIP: APIVIP,
	}, err
}
