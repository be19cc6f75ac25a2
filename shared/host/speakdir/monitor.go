package speakdir

import (
	"errors"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Monitor is the program that decides what its host announces. It holds a lock from its first
// wish on, so that the speaker notices its death at once, and puts this host behind all others.
// The zero value of all but Dir is that of one that has wanted nothing. It is for one goroutine.
type Monitor struct {
	Dir
	lock file.Held
}

// Wish writes what the host announces. While another monitor lives, which may end just now, the
// lock stays that one's.
func (m *Monitor) Wish(w spoken.Wish) error {
	_, errLock := m.lock.Hold(m.At(spoken.MonitorFile))
	_, err := file.Update(m.At(spoken.WishFile), spoken.Encode(w), 0o644)
	return errors.Join(err, errLock)
}

// End ends the monitor in order: what the host announces stays as it is for speak.Silence, within
// which another monitor takes over.
func (m *Monitor) End() error { return m.lock.Release(m.At(spoken.MonitorFile)) }
