//go:build remote

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// everySaid is the time between two looks at what the checks say.
const everySaid = time.Second

// keepSaid writes down what the checks say, when it changes, until ctx ends: for people, so it is
// beside the files that keepalived reads.
func (h nodeVIPHost) keepSaid(ctx context.Context, say func() []vip.Said) error {
	return keepJSON(ctx, h.at(election.RunDir, vip.SaidFile), "what the checks say", say)
}

// keepJSON writes a value into a file as JSON, when it changes, until ctx ends.
func keepJSON[T any](ctx context.Context, path, what string, value func() T) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tick := time.NewTicker(everySaid)
	defer tick.Stop()
	for {
		text, err := json.Marshal(value())
		if err == nil {
			_, err = file.WriteIfChanged(path, append(text, '\n'), 0o644)
		}
		if err != nil {
			return fmt.Errorf("keep %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
