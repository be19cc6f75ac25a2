package facts

import (
	"io/fs"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/bgp/message"
	"github.com/onprem-infra/onprem-infra/shared/operator/announcing"
)

// Routed is how a host announces VIPs to its routers, or will.
type Routed struct {
	// Report is of the monitor's and the speaker's files; nil of a host without a speaker.
	Report *announcing.Report
	Fault  string // why the speaker does not answer; empty if it does
	NoBFD  bool   // its rack has sessions without BFD
	Rack   string // that of the plan which is this host's; empty if none is
	NoRack string // why no rack of the plan is this host's; empty if one is
	Asked  []Asked
	Paths  []Path
	// Others are sockets of other programs at the ports of BGP and BFD, of this host or a router.
	Others []Socket
	Drops  Drops
	// Uplinks are the links on which the host's routers are.
	Uplinks   []Uplink
	Sources   []Source
	Passwords *Passwords // nil without the file
	// Spreads are of VIPs that this host does not have, where routers are to spread connections.
	Spreads []Spread
}

// Spread is which hosts answer connections to a VIP.
type Spread struct {
	VIP    netip.Addr
	Asked  int // connections, each from another port of this host
	Failed int
	Why    string // the last one failed; empty if none did
	Hosts  []Answerer
}

// Unsure reports whether the result is inconclusive: fewer hosts answered than there are nodes,
// and at least half of one node's share of the connections failed (half, as shares differ). They
// may be those of a node that routers use and that does not answer.
func (s Spread) Unsure(nodes int) bool {
	return s.Failed > 0 && len(s.Hosts) < nodes && 2*nodes*s.Failed >= s.Asked
}

// Answerer is a host that has answered, by the names and addresses in its kubelet's certificate.
type Answerer struct {
	Names []string
	Times int
}

// Asked is a router's answer to a connection of this host.
type Asked struct {
	Router string
	message.Answer
}

// Path is whether packets that fill the link arrive at a router that answers small ones.
type Path struct {
	Router string
	Link   string
	Full   int // bytes of the packet
	Whole  bool
}

// Socket is a port that other programs have.
type Socket struct {
	Network string // udp or tcp
	Port    uint16
	Owners  []string // as "bird (process 12)"; empty if they are not known
	// Router is that at the other end of a session, and From this host's own address of it; the
	// zero values of a socket that receives.
	Router, From netip.Addr
}

// Drops are TCP packets that the kernel has dropped while sessions did not come up, in two seconds.
type Drops struct {
	TTL uint64 // from further away than is allowed (RFC 5082)
	// By TCP MD5 (RFC 2385): without a signature, with one that is not expected, or with another.
	Unsigned, Signed, Differing uint64
}

// Uplink is a link with its filter of sources (rp_filter): 1 drops packets whose answer would leave
// by another link.
type Uplink struct {
	Link   string
	Filter int
	// UsedDown means that the kernel sends by routes over the link also while it has no carrier
	// (ignore_routes_with_linkdown is 0).
	UsedDown bool
}

// Source is a route whose packets have a VIP as their source.
type Source struct {
	VIP   netip.Addr
	Route string
}

// Passwords are the file of the routers' passwords, without any of them.
type Passwords struct {
	Path    string
	Mode    fs.FileMode
	Fault   string   // why it cannot be read as that; empty if it can
	Unknown []string // names in it that no rack has
}
