//go:build remote

package main

import (
	"context"

	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
)

// keepRights writes the rights that the API has refused to this node whenever they change, until
// ctx ends.
func (h nodeVIPHost) keepRights(ctx context.Context, missing func() []inspect.MissingRight) error {
	return keepJSON(
		ctx, h.at(election.RunDir, inspect.RightsFile), "which rights this node lacks", missing)
}
