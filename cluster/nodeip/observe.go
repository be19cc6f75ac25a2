package nodeip

import (
	"context"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// Snapshot is the input of the choice.
type Snapshot struct {
	Host addr.Snapshot
	// Primary is the address chosen in this boot; invalid if there is none or the file holds no
	// address.
	Primary netip.Addr
	// Corrupt is true if the file exists and holds no address.
	Corrupt bool
}

// Observe reads the host's addresses and the recorded one.
func (r *Room) Observe(ctx context.Context) (Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return Snapshot{}, err
	}
	text, there, err := r.host.Read(Primary)
	if err != nil {
		return Snapshot{}, err
	}
	primary, ok := address(text)
	links, err := r.host.Links()
	return Snapshot{Host: links, Primary: primary, Corrupt: there && !ok}, err
}

// address parses a recorded address, which has no blanks around it.
func address(text []byte) (a netip.Addr, ok bool) {
	a, err := netip.ParseAddr(string(text))
	return a, err == nil
}
