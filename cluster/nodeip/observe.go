package nodeip

import (
	"context"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// Snapshot is all that the choice depends on.
type Snapshot struct {
	Host addr.Snapshot
	// Primary is what was chosen in this boot; invalid when nothing was, or when what is written
	// down is no address.
	Primary netip.Addr
	// Corrupt says that there is something in Primary's place which is no address.
	Corrupt bool
}

// Observe reads the host and what is written down.
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

// address is what a file of ours says, to the letter.
func address(text []byte) (a netip.Addr, ok bool) {
	a, err := netip.ParseAddr(string(text))
	return a, err == nil
}
