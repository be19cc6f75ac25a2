// Package systemd notifies the service manager of the state of a service of Type=notify. Without
// NOTIFY_SOCKET in the environment, as when a verb is typed by hand, it does nothing.
package systemd

import (
	"fmt"
	"strings"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Ready reports that the service works: systemd then starts units that are ordered after it.
func Ready() error { return notify(daemon.SdNotifyReady) }

// Stopping reports that the service ends.
func Stopping() error { return notify(daemon.SdNotifyStopping) }

// Status sets the line that systemctl status shows.
func Status(text string) error {
	return notify("STATUS=" + strings.Join(strings.Fields(text), " "))
}

func notify(state string) error {
	if _, err := daemon.SdNotify(false, state); err != nil {
		return fmt.Errorf("notify systemd of %s: %w", state, err)
	}
	return nil
}
