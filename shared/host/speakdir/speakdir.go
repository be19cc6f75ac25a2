// Package speakdir reads and writes the files by which a host's monitor and its speaker know of
// each other. Package spoken describes them.
package speakdir

import (
	"context"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/uptime"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Dir is the path of the directory.
type Dir string

// At is the path of one of the files.
func (d Dir) At(name string) string { return filepath.Join(string(d), name) }

// Config is the speaker's configuration. It is the zero value before the first, and if this
// release cannot read it: it is written anew.
func (d Dir) Config() (spoken.Config, error) {
	text, err := file.Read(d.At(spoken.ConfigFile))
	if err != nil || text == nil {
		return spoken.Config{}, err
	}
	c, err := spoken.Decode[spoken.Config](text)
	if err != nil {
		return spoken.Config{}, nil
	}
	return c, nil
}

// Status is the speaker's last one, with times by the clock as it is now; the zero value before the
// first.
func (d Dir) Status() (spoken.Status, error) {
	text, err := file.Read(d.At(spoken.StatusFile))
	if err != nil || text == nil {
		return spoken.Status{}, err
	}
	s, err := spoken.Decode[spoken.Status](text)
	return s.By(time.Now(), uptime.Now()), err
}

// ForgetStatus removes that of a speaker that has ended.
func (d Dir) ForgetStatus() error { return file.Remove(d.At(spoken.StatusFile)) }

// Configure writes how the host reaches its routers.
func (d Dir) Configure(c spoken.Config) error {
	_, err := file.WriteIfChanged(d.At(spoken.ConfigFile), spoken.Encode(c), 0o644)
	return err
}

// Leave asks the speaker to leave in order, or withdraws that request if now is false.
func (d Dir) Leave(now bool) error {
	if !now {
		return file.Remove(d.At(spoken.LeaveFile))
	}
	_, err := file.WriteIfChanged(d.At(spoken.LeaveFile), []byte("leave\n"), 0o644)
	return err
}

// Silence is how long a speaker that runs reports nothing at most. It reports once a second.
const Silence = 10 * time.Second

// AwaitLeft waits after a request until the host has left, and returns the status that the
// speaker had reported before. It does not wait if no speaker runs.
func (d Dir) AwaitLeft(ctx context.Context) (before spoken.Status, err error) {
	first := true
	err = file.Follow(ctx, d.At(spoken.StatusFile), func() (bool, error) {
		s, err := d.Status()
		if first && err == nil {
			before, first = s, false
		}
		return s.At.IsZero() || s.Left || time.Since(s.At) > Silence, err
	})
	return before, err
}
