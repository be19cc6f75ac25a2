// Package routed completes how the hosts of a cluster announce its VIPs to their routers by BGP:
// sessions, the grades of paths with their proof, what each failure costs, and what the routers
// must do for that.
package routed

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
)

// Announcing is how VIPs come to hosts: by VRRP, by BGP, or by both.
type Announcing struct {
	Management spec.Management `json:"vipManagement"`
	// BGP is how hosts announce VIPs to their routers; nil if they do not.
	BGP *Plan `json:"bgp,omitempty"`

	// Described is what the description has of it, without passwords.
	Described spec.Routing `json:"-"`
}

// ByVRRP reports whether hosts elect holders of the VIPs. The provisioning address has one always.
func (a Announcing) ByVRRP() bool { return a.Management != spec.ByBGP }

// Plan is how VIPs are announced, complete. It has no passwords.
type Plan struct {
	ASN         bgp.ASN  `json:"asn"`
	Mode        string   `json:"mode"`
	Timing      Timing   `json:"timing"`
	FabricDepth int      `json:"fabricDepth"` // levels of routers above those of the racks
	Communities []string `json:"communities,omitempty"`
	Racks       []Rack   `json:"racks"`
	Grades      Grades   `json:"grades"`
	Proof       []string `json:"proof"`
	// Needs are what routers must do, for all racks.
	Needs  []string      `json:"needs"`
	Notes  []string      `json:"notes"`
	Bounds []bound.Bound `json:"bounds"`

	// Policy and Model are everything that grades and bounds follow from. Model is the timing of
	// the racks in which it takes longest to find out that a host is gone.
	Policy bgp.Policy `json:"-"`
	Model  bgp.Timing `json:"-"`
}

// Fastest is the timing of the racks whose routers find out first that a host is gone. FRR's
// container is alike on all hosts, and so is made for that.
func (p *Plan) Fastest() (t bgp.Timing) {
	for i, r := range p.Racks {
		if i == 0 || r.Model.Detection() < t.Detection() {
			t = r.Model
		}
	}
	return t
}

// Timing is how a router finds out that a host is gone. A profile whose numbers are changed has no
// name.
type Timing struct {
	Profile       string `json:"profile,omitempty"`
	BFDIntervalMs int    `json:"bfdIntervalMs,omitempty"` // 0 without BFD
	BFDMultiplier int    `json:"bfdMultiplier,omitempty"`
	KeepaliveS    int    `json:"keepaliveS"`
	HoldS         int    `json:"holdS"`
	DetectsMs     int    `json:"detectsMs"`
}

// Grades are how many AS numbers longer than the shortest path those of hosts are.
type Grades struct {
	Bootstrap bgp.Grade   `json:"bootstrap"`
	Nodes     []bgp.Grade `json:"nodes"`   // by rank, where the balancer serves; one for all
	OwnAPI    bgp.Grade   `json:"ownAPI"`  // is added where only the node's API server does
	Leaving   bgp.Grade   `json:"leaving"` // the last one before a host withdraws
}

// Rack is a group of hosts that have the same routers.
type Rack struct {
	Name    string       `json:"name,omitempty"`
	Network netip.Prefix `json:"network,omitzero"`
	Timing  Timing       `json:"timing"`
	Peers   []Peer       `json:"peers,omitempty"` // none: the host's gateways

	Model bgp.Timing `json:"-"` // what Timing follows from
}

// Peer is a router.
type Peer struct {
	Address     netip.Addr     `json:"address,omitzero"`
	Interface   string         `json:"interface,omitempty"`
	ASN         bgp.ASN        `json:"asn,omitempty"` // 0 for whichever it has
	Source      routing.Source `json:"source,omitzero"`
	Hops        int            `json:"hops,omitempty"`
	TTLSecurity bool           `json:"ttlSecurity,omitempty"`
}

// String is how people know a rack.
func (r Rack) String() string {
	switch {
	case r.Name == "":
		return r.Network.String()
	case r.Network.IsValid():
		return fmt.Sprintf("%s (%s)", r.Name, r.Network)
	}
	return r.Name
}

// Name is the name by which FRR and the file of passwords know a router.
func (p Peer) Name() string {
	if p.Interface != "" {
		return p.Interface
	}
	return p.Address.String()
}

// Has reports whether there is a rack of this name.
func (p *Plan) Has(name string) bool {
	return name != "" && slices.ContainsFunc(p.Racks, func(r Rack) bool { return r.Name == name })
}

// Find is the rack of a host: that of its name, if it has one, else that in whose network one of
// its addresses is. The error has what is wrong, and what to do.
func (p *Plan) Find(name string, addresses []netip.Addr) (Rack, error) {
	if name != "" {
		i := slices.IndexFunc(p.Racks, func(r Rack) bool { return r.Name == name })
		if i < 0 {
			return Rack{}, fmt.Errorf("the host's rack is named %q, and bgp.racks has none of "+
				"that name: correct one of the two", name)
		}
		return p.Racks[i], nil
	}
	for _, r := range p.Racks {
		if r.Network.IsValid() && slices.ContainsFunc(addresses, r.Network.Contains) {
			return r, nil
		}
	}
	return Rack{}, fmt.Errorf("no rack of bgp.racks has a network with one of the host's "+
		"addresses %v: add one, or name the host's rack in its file rack", addresses)
}

// modes of a plan.
const (
	ecmp      = routing.ECMP
	preferred = routing.Preferred
)
