package rundir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// SetLeave requests that the VIPs are released, or withdraws that, for an owner. A request of
// another owner stays.
func (d Dir) SetLeave(owner string, now bool) error {
	path := d.at(supervised.LeaveFile)
	text, err := os.ReadFile(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case now && err != nil:
		return file.Write(path, []byte(owner), 0o644)
	case now || err != nil || string(text) != owner:
		return nil
	}
	return os.Remove(path)
}

// RequestLeave requests that the VIPs are released, unless that is requested already.
func (d Dir) RequestLeave() error {
	f, err := os.OpenFile(d.at(supervised.LeaveFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// WithdrawLeave withdraws any request.
func (d Dir) WithdrawLeave() error { return remove(d.at(supervised.LeaveFile)) }

// AwaitLeft waits until the VIPs are released, and returns the status from before. Its error is
// ctx's if that ends first.
func (d Dir) AwaitLeft(ctx context.Context) (before supervised.Status, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wake, watched := loop.NewWake(), make(chan error, 1)
	go func() { watched <- file.Watch(ctx, []string{d.StatusFile()}, wake) }()
	for first := true; ; first = false {
		status, err := d.Status()
		if err != nil {
			return before, err
		}
		if first {
			before = status
		}
		if status.Leaving == supervised.Left ||
			status.PID == 0 && status.Leaving == supervised.Stays {
			return before, nil
		}
		select {
		case <-wake:
		case err := <-watched:
			if ctx.Err() == nil {
				return before, fmt.Errorf("wait for the supervisor: %w", err)
			}
			return before, ctx.Err()
		}
	}
}
