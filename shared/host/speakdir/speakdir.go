// Package speakdir has the requests to FRR's parent of other programs than the monitor, by files of
// the directory between the two.
package speakdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Dir is the directory.
type Dir string

func (d Dir) at(name string) string { return filepath.Join(string(d), name) }

// Silence is how long a parent that runs reports nothing at most. It reports once a second.
const Silence = 10 * time.Second

// Status is what the parent reported last; ok is false if there is no report.
func (d Dir) Status() (s spoken.Status, ok bool, err error) {
	text, err := os.ReadFile(d.at(spoken.StatusFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err == nil {
		s, err = spoken.Decode[spoken.Status](text)
	}
	return s, err == nil, err
}

// RequestLeave requests that the host leaves its routers in order, and stays away from them.
func (d Dir) RequestLeave() error {
	f, err := os.OpenFile(d.at(spoken.LeaveFile), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// WithdrawLeave ends a request. There may be none.
func (d Dir) WithdrawLeave() error {
	if err := os.Remove(d.at(spoken.LeaveFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// AwaitLeft waits after a request until the host has left, and returns what the parent reported
// before. Without a parent that runs there is nothing to wait for.
func (d Dir) AwaitLeft(ctx context.Context) (before spoken.Status, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wake, watched := loop.NewWake(), make(chan error, 1)
	go func() { watched <- file.Watch(ctx, []string{d.at(spoken.StatusFile)}, wake) }()
	silent := time.NewTicker(time.Second)
	defer silent.Stop()
	for first := true; ; first = false {
		s, ok, err := d.Status()
		if err != nil {
			return before, err
		}
		if first {
			before = s
		}
		if !ok || s.Left || time.Since(s.At) > Silence {
			return before, nil
		}
		select {
		case <-wake:
		case <-silent.C:
		case err := <-watched:
			if ctx.Err() == nil {
				return before, fmt.Errorf("wait for FRR's parent: %w", err)
			}
			return before, ctx.Err()
		}
	}
}
