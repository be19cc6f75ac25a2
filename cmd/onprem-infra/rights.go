//go:build remote

package main

import (
	"context"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// keepRights writes the rights that the API has refused to this node whenever they change, until
// ctx ends.
func (h nodeVIPHost) keepRights(ctx context.Context, missing func() []inspect.MissingRight) error {
	return keepJSON(
		ctx, h.at(supervised.RunDir, inspect.RightsFile), "which rights this node lacks", missing)
}
