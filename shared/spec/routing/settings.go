// Package routing reads how the hosts of a cluster announce its virtual IPs: by VRRP to the hosts
// of their own network, by BGP to their routers, or by both.
package routing

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/platform"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/router"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/timers"
)

// Management is how a virtual IP reaches a host.
type Management string

// The ways. The zero value means VRRP.
const (
	VRRP Management = "vrrp"
	BGP  Management = "bgp"
	Both Management = "both"
)

// The modes of hosts that announce by BGP.
const (
	ECMP      = "ecmp"      // all that serve are alike
	Preferred = "preferred" // one is in front of the others
)

// Timers are how a router finds out that a host is gone.
type Timers = timers.Timers

// Off is the interval of hosts that do no BFD.
const Off = timers.Off

// Settings are how virtual IPs are announced. Zero values mean "not set".
type Settings struct {
	Management Management
	BGP        BGPSettings
	// Passwords are those of routers that an install-config has, by their addresses. No plan has
	// them.
	Passwords map[netip.Addr]secret.Text
}

// BGPSettings are those of the hosts' sessions with their routers.
type BGPSettings struct {
	ASN  bgp.ASN
	Mode string
	Timers
	// FabricDepth is how many levels of routers are above those of the racks, see bgp.Policy; 0 is
	// not set: there is one.
	FabricDepth int
	Communities []string
	Racks       []Rack
}

func (s BGPSettings) none() bool {
	return s.ASN == 0 && s.Mode == "" && s.Timers == (Timers{}) && s.FabricDepth == 0 &&
		len(s.Communities)+len(s.Racks) == 0
}

// Policy is the scheme of the hosts' grades, with so many nodes of the control plane. Where there
// are elections too, the holder of a virtual IP is in front of all others.
func (s Settings) Policy(controlPlane int) bgp.Policy {
	p := bgp.Policy{Depth: max(s.BGP.FabricDepth, 1), Bootstrap: true}
	switch {
	case s.Management == Both:
		p.Ranks = 2
	case s.BGP.Mode == Preferred:
		p.Ranks = max(controlPlane, 1)
	}
	return p
}

// Usual is the timing of a platform: virtual machines share their hosts with others.
func Usual(p platform.Platform) bgp.Timing {
	profile := bgp.ProfileVM
	if p == platform.BareMetal {
		profile = bgp.ProfileLan
	}
	t, _ := bgp.TimingOf(profile)
	return t
}

// Rack is a group of hosts that have the same routers.
type Rack struct {
	// Name is that of the label or the file by which a host knows its rack; empty for a rack that
	// is known by its network.
	Name    string
	Network netip.Prefix // of its hosts' own addresses; the zero value for a rack of a name
	Timers               // in the place of those of all racks
	Peers   []Peer       // none: the host's gateways
}

// Peer is a router.
type Peer = router.Peer

// Source is the host's end of sessions.
type Source = router.Source

// The bounds of a description, in whichever way it is written: every host holds its own to them.
const (
	mostRacks = 256
	mostPeers = 8 // of a rack
	mostDepth = 3
)
