// Package adverts protects keepalived from other routers' adverts, and sees to it that its own ones
// reach its peers.
package adverts

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Adverts are those that keepalived sends and receives by the running configuration.
type Adverts struct {
	log   *slog.Logger
	tasks *pace.Tasks

	far    nft.Far
	filter nft.FarFilter
	farAt  time.Time // when the rules are compared next

	peers []peer
	warm  warmth

	elections map[string]election // by instance, of version 3
	adoptions map[string]adoption // by instance
	undoing   undoing
	// slower are adverts with longer intervals than slowerThan, which is 0 while none are received,
	// and with these IDs.
	slower     *inbox
	slowerThan time.Duration
	slowerIDs  []vrrp.ID
	unfollow   context.CancelFunc // ends their receipt; nil while there is none
}

// New knows of no configuration yet.
func New(log *slog.Logger, tasks *pace.Tasks) *Adverts {
	return &Adverts{
		log: log, tasks: tasks, adoptions: map[string]adoption{},
		slower: newInbox(),
	}
}

// SetConfig takes the running configuration.
func (a *Adverts) SetConfig(c keepalived.Config) {
	a.far, a.filter, a.farAt = hopLimited(c.Instances), nft.FarFilter{}, time.Time{}
	a.peers, a.warm = peersOf(c.Instances), warmth{}
	a.elections = electionsOf(c.Instances)
	a.Forget()
	a.followSlower()
}

// Forget clears the adoptions: a keepalived that starts anew uses its own intervals.
func (a *Adverts) Forget() { clear(a.adoptions) }

// unicastPeers are the peers of an instance in unicast mode, without the multicast group.
func unicastPeers(i keepalived.Instance) (peers []netip.Addr) {
	for _, p := range i.Peers {
		if i.Source.IsValid() && !p.IsMulticast() {
			peers = append(peers, p.WithZone(""))
		}
	}
	return peers
}
