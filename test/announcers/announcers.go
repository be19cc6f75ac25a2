// Package announcers has configurations of hosts that announce VIPs, for golden files and for the
// daemons that judge them.
package announcers

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// The VIPs of all configurations.
var (
	VIP4 = netip.MustParseAddr("198.51.100.5")
	VIP6 = netip.MustParseAddr("2001:db8:1::5")
)

// Configs are configurations by their names. The host has the addresses 192.0.2.10 and
// 2001:db8::10.
func Configs() map[string]frr.Config {
	a := netip.MustParseAddr
	profile := func(name string) bgp.Timing { t, _ := bgp.TimingOf(name); return t }
	leaf := frr.Peer{Address: a("192.0.2.1"), ASN: 65101}
	one := frr.Config{ASN: 64512, Router: a("192.0.2.10"), Timing: profile(bgp.ProfileLan),
		VIPs: []netip.Addr{VIP4}, Peers: []frr.Peer{leaf}}
	with := func(change func(*frr.Config)) frr.Config {
		c := one
		c.Peers = append([]frr.Peer(nil), one.Peers...)
		change(&c)
		return c
	}
	serving := func(g bgp.Grade) map[netip.Addr]bgp.Grade { return map[netip.Addr]bgp.Grade{VIP4: g} }
	return map[string]frr.Config{
		"one-leaf":  one,
		"announced": with(func(c *frr.Config) { c.Announced = serving(0) }),
		"behind":    with(func(c *frr.Config) { c.Announced = serving(4) }),
		"leaving":   with(func(c *frr.Config) { c.Announced = serving(8) }),
		"hold": with(func(c *frr.Config) {
			c.Timing, c.Announced = profile(bgp.ProfileHold), serving(0)
		}),
		"vm": with(func(c *frr.Config) { c.Timing = profile(bgp.ProfileVM) }),
		"two-leaves": with(func(c *frr.Config) {
			c.Peers = append(c.Peers, frr.Peer{Address: a("192.0.2.2"), ASN: 65102})
			c.Announced = serving(4)
		}),
		"another-leaf": with(func(c *frr.Config) {
			c.Peers = []frr.Peer{{Address: a("192.0.2.2"), ASN: 65102}}
			c.Announced = serving(4)
		}),
		"both-families": with(func(c *frr.Config) {
			c.VIPs = append(c.VIPs, VIP6)
			c.Peers = append(c.Peers, frr.Peer{Address: a("2001:db8::1"), ASN: 65101})
			c.Announced = map[netip.Addr]bgp.Grade{VIP4: 0, VIP6: 1}
			c.Communities = []string{"64512:100", "64512:200"}
		}),
		"ipv6": with(func(c *frr.Config) {
			c.VIPs, c.Peers = []netip.Addr{VIP6}, []frr.Peer{{Address: a("2001:db8::1"), ASN: 65101}}
			c.Announced = map[netip.Addr]bgp.Grade{VIP6: 4}
		}),
		"unnumbered": with(func(c *frr.Config) {
			c.VIPs = append(c.VIPs, VIP6)
			c.Peers = []frr.Peer{{Interface: "enp1s0"}}
			c.Announced = map[netip.Addr]bgp.Grade{VIP4: 0, VIP6: 0}
		}),
		"another-unnumbered": with(func(c *frr.Config) {
			c.VIPs = append(c.VIPs, VIP6)
			c.Peers = []frr.Peer{{Interface: "enp1s0", ASN: 65101}}
			c.Announced = map[netip.Addr]bgp.Grade{VIP4: 0, VIP6: 0}
		}),
		"secret": with(func(c *frr.Config) {
			c.Peers[0].Password, c.Peers[0].TTLSecurity = secret.New("s3cret-of-a-leaf"), true
		}),
		"another-secret": with(func(c *frr.Config) {
			c.Peers[0].Password, c.Peers[0].Hops = secret.New("another"), 2
			c.Peers[0].Source = a("192.0.2.10")
		}),
		"another-number": with(func(c *frr.Config) { c.ASN, c.Announced = 4200000001, serving(2) }),
	}
}
