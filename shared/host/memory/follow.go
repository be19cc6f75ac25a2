package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// writeInterval is the time between two writes of what changed.
const writeInterval = time.Second

// Report is a file that has a value as JSON, for other programs.
type Report struct {
	Path, What string
	Value      func() any
}

// KeepReports writes each value into its file, when it changes, until ctx ends or a write fails.
// The others are written also in the round in which one fails.
func KeepReports(ctx context.Context, all ...Report) error {
	tick := time.NewTicker(writeInterval)
	defer tick.Stop()
	for {
		var failed []error
		for _, r := range all {
			if err := r.write(); err != nil {
				failed = append(failed, fmt.Errorf("keep %s: %w", r.What, err))
			}
		}
		if len(failed) > 0 {
			return errors.Join(failed...)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (r Report) write() error {
	text, err := json.Marshal(r.Value())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o755); err != nil {
		return err
	}
	_, err = file.WriteIfChanged(r.Path, append(text, '\n'), 0o644)
	return err
}
