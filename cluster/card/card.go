// Package card has a node's card on the provisioning network ready for the address that the nodes
// share: enabled, and with a link-local address on a network of IPv6. A node may have no address of
// its own there, and so nothing that enables the card at boot.
//
// A card that this program has seen enabled is never enabled again: a person, or the program that
// configures the node's network, has disabled it since.
package card

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/plan/sharing"
)

// Interval is the time between two rounds.
const Interval = 5 * time.Second

// Network is the node's.
type Network interface {
	Cards() ([]addr.Ethernet, error)
	SetUp(link string) error
	// MakeLinkLocal gives a link the link-local IPv6 address of its MAC.
	MakeLinkLocal(link string) error
}

// Step is what a round does.
type Step string

// The steps. The empty one does nothing.
const (
	Enable    Step = "enable"
	LinkLocal Step = "link-local"
)

// Decide is the next step to a card that is ready, and why. enabled is the link that was seen
// enabled before; empty for none.
func Decide(
	p *provision.Plan, all []addr.Ethernet, enabled string,
) (step Step, card addr.Ethernet, why string) {
	card, err := sharing.Card(p, all)
	if err != nil {
		return "", card, err.Error()
	}
	lack := sharing.Lacks(p, card)
	switch {
	case lack == sharing.Lack{}:
		return "", card, card.Name + " is ready"
	case !card.Enabled && card.Name == enabled:
		return "", card, fmt.Sprintf("%s, and was disabled by another program or a person: %s",
			lack.Seen, lack.Do)
	case !card.Enabled:
		return Enable, card, lack.Seen
	case card.Carrier:
		return LinkLocal, card, lack.Seen
	}
	return "", card, lack.Seen + ": " + lack.Do
}

// Keeper makes the steps. It is for one goroutine.
type Keeper struct {
	Plan    *provision.Plan
	Network Network
	Log     *slog.Logger

	enabled string
}

// Run makes a round at each Interval until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	var logged loop.News
	for range loop.Every(ctx, Interval) {
		why, err := k.round()
		if text := fmt.Sprint(why, err); logged.Is(text) {
			k.Log.Info("observed the card of the provisioning network", "why", why, "error", err)
		}
	}
	return nil
}

func (k *Keeper) round() (why string, err error) {
	all, err := k.Network.Cards()
	if err != nil {
		return "", err
	}
	step, card, why := Decide(k.Plan, all, k.enabled)
	if card.Enabled {
		k.enabled = card.Name
	}
	switch step {
	case Enable:
		err = k.Network.SetUp(card.Name)
	case LinkLocal:
		err = k.Network.MakeLinkLocal(card.Name)
	}
	return why, err
}
