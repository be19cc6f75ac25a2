package services

import (
	"log/slog"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// Filter is the kernel's packet filter; it logs the leftovers that it removes.
type Filter struct{ Log *slog.Logger }

// Ensure writes the rules that differ.
func (Filter) Ensure(r redirect.Rules) (bool, error) { return nft.Ensure(r) }

// RemoveLeftovers removes the rules of another balancer.
func (f Filter) RemoveLeftovers() ([]string, error) {
	removed, err := nft.RemoveLeftovers()
	if len(removed) > 0 {
		f.Log.Info("removed leftovers of another balancer", "what", removed)
	}
	return removed, err
}

// EnsureIronic writes the rules of Ironic that differ.
func (Filter) EnsureIronic(r redirect.Rules) (bool, error) { return nft.Ironic.Ensure(r) }

// RemoveIronic removes the rules of Ironic.
func (f Filter) RemoveIronic() error {
	removed, err := nft.Ironic.Remove()
	if removed {
		f.Log.Info("removed the redirect to Ironic, which is not balanced any more")
	}
	return err
}
