package facts

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Network is what this host sees of its VIPs and of other hosts.
type Network struct {
	VIPs    []VIP
	Members []Member // all hosts that may hold a VIP, this one included
	// more members exist than were asked for their MACs: an unknown MAC may be theirs
	Partial bool

	Clashes []clash.Finding       // what is wrong with the adverts that were received
	FreeIDs map[vrrp.Kind]vrrp.ID // free ones, to replace those that another router uses
	Reached []Reached
}

// VIP is one VIP as this host sees it.
type VIP struct {
	Address  netip.Addr
	For      vrrp.Kind
	Instance vrrp.InstanceName
	ID       vrrp.ID
	Link     string // on which it belongs; empty if there is none
	Near     bool   // the VIP is in a network of Link
	Here     bool   // this host's kernel has it
	State    supervised.State
	Asked    bool     // the link was asked which hosts have it
	Answers  []string // the MACs of all hosts that answered
	Cached   string   // the MAC in this host's neighbour table
	// of the instance in keepalived's file; nil in multicast mode and if there is none
	Peers  []netip.Addr
	Echoes []Echo // of neighbours; only if Here
}

// Echo is how a neighbour answers ICMP echo requests of this host.
type Echo struct {
	Neighbour netip.Addr
	Plain     bool // it answered one from this host's own address
	FromVIP   bool // its answer to one from the VIP arrived here
}

// Member is a host that may hold a VIP.
type Member struct {
	Name         string
	Addresses    []netip.Addr
	MACs         []string // that answer for one of them; empty if none does
	ControlPlane bool
	Self         bool
	Named        bool // by the API; else by this host's memory or configuration
	Apart        bool // a label of its Node keeps VIPs away from it

	Rank string    // in the election of the API VIP, as its Node has it; empty for none
	Rack string    // of its name, or of its Node's label; empty if its addresses decide
	Down time.Time // since when its kubelet does not work; zero if it works
}

// MayAnnounce reports whether a node may announce the API's VIPs by BGP: it is a control plane node
// that the API names, and no administrator keeps VIPs away from it.
func (m Member) MayAnnounce() bool { return m.ControlPlane && m.Named && !m.Apart }

// ControlPlane is how many members are nodes of the control plane.
func ControlPlane(members []Member) (n int) {
	for _, m := range members {
		if m.ControlPlane {
			n++
		}
	}
	return n
}

// Reached is how another host is reached.
type Reached struct {
	Host  netip.Addr
	Link  string
	Echo  bool     // it answers small packets
	Full  int      // bytes of the packet that fills the link; 0 if it was not tried
	Whole bool     // it answers that one
	VRRP  VRRPPath // whether it receives VRRP
	Shut  []string // ports from which nothing comes back at all, as NUMBER (NAME)
}

// VRRPPath is whether VRRP reaches a host.
type VRRPPath string

// The kernel of a host without VRRP refuses the protocol, which shows that VRRP arrives. A host
// with VRRP does not answer, and neither does one behind a packet filter: VRRPUnanswered is both.
const (
	VRRPUnknown    VRRPPath = ""
	VRRPArrives    VRRPPath = "arrives"
	VRRPUnanswered VRRPPath = "unanswered"
)
