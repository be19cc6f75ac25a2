package nft

import (
	"log/slog"

	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// Filter is the kernel's packet filter; it logs the leftovers that it removes.
type Filter struct{ Log *slog.Logger }

// Ensure is the function of that name.
func (Filter) Ensure(r redirect.Rules) (bool, error) { return Ensure(r) }

// RemoveLeftovers is the function of that name.
func (f Filter) RemoveLeftovers() ([]string, error) {
	removed, err := RemoveLeftovers()
	if len(removed) > 0 {
		f.Log.Info("removed leftovers of another balancer", "what", removed)
	}
	return removed, err
}
