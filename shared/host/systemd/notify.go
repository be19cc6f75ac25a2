// Package systemd tells the service manager what a service of Type=notify does. Without
// NOTIFY_SOCKET in the environment, as when a verb is typed by hand, nothing is told and nothing
// fails.
package systemd

import (
	"fmt"
	"strings"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Ready says that the service does its work: systemd then starts what is ordered after it.
func Ready() error { return notify(daemon.SdNotifyReady) }

// Stopping says that the service gives its work up.
func Stopping() error { return notify(daemon.SdNotifyStopping) }

// Status shows one line to those who ask with systemctl status.
func Status(text string) error {
	return notify("STATUS=" + strings.Join(strings.Fields(text), " "))
}

func notify(state string) error {
	if _, err := daemon.SdNotify(false, state); err != nil {
		return fmt.Errorf("notify systemd of %s: %w", state, err)
	}
	return nil
}
