package rundir

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
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
	first := true
	err = file.Follow(ctx, d.StatusFile(), func() (bool, error) {
		status, err := d.Status()
		if first && err == nil {
			before, first = status, false
		}
		return status.Leaving == supervised.Left ||
			status.PID == 0 && status.Leaving == supervised.Stays, err
	})
	return before, err
}
