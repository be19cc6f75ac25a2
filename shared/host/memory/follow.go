package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// writeInterval is the time between two writes of what changed.
const writeInterval = time.Second

// KeepJSON writes a value into a file as JSON, when it changes, until ctx ends or a write fails.
func KeepJSON[T any](ctx context.Context, path, what string, value func() T) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tick := time.NewTicker(writeInterval)
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
