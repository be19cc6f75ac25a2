package link

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// Network is this host's network, for rooms that see it through an interface.
type Network struct{}

// Links is Snapshot.
func (Network) Links() (addr.Snapshot, error) { return Snapshot() }

// Ask is the function of that name.
func (Network) Ask(on string, address netip.Addr) error { return Ask(on, address) }

// Neighbour is the function of that name.
func (Network) Neighbour(on string, address netip.Addr) (addr.Neighbour, error) {
	return Neighbour(on, address)
}
