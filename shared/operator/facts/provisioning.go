package facts

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/lldp"
	"github.com/onprem-infra/onprem-infra/shared/offer"
)

// Provisioning is what was seen on the link on which hosts are installed, beside what should be.
type Provisioning struct {
	Named string // the link, by its name or MAC, as a person wrote it
	Mode  offer.Mode
	// The servers that may answer there, and the addresses that no other host may have.
	Expected offer.Expected
	Own      []netip.Addr
	MTU      int          // that the link should have; 0 if none is stated
	CIDR     netip.Prefix // that only this link may have; invalid if it is not known
	Live     bool         // services of the installation run on this host, and hold their ports

	NoLink  string          // why there is no link; empty if there is one
	Link    *addr.Ethernet  // nil if links were not inspected
	Others  []addr.Ethernet // the other links of this host, without ports of bridges and bonds
	Asked   bool            // which servers answer
	Servers []offer.Server
	Holders []AddressHolder
	Ports   []HeldPort
	Switch  *lldp.Neighbor // nil if it announced nothing meanwhile
}

// AddressHolder is an address and the other hosts that answer for it.
type AddressHolder struct {
	Address netip.Addr
	MACs    []string
}

// HeldPort is a port that the installation needs and a program has.
type HeldPort struct {
	Number  uint16
	Network string // "udp" or "tcp"
	Needs   string // the service that needs it
	Program string // empty if it is not known
	Link    string // the only link on which the program receives; empty for all
}
