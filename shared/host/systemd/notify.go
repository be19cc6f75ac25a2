// Package systemd tells the service manager what a service of Type=notify does. Without NOTIFY_SOCKET in the environment, as when a
// verb is typed by hand, nothing is told and nothing fails.
package systemd

import (
	"fmt"
	"strings"
	"time"

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

// Alive feeds the watchdog.
func Alive() error { return notify(daemon.SdNotifyWatchdog) }

// Watchdog is the time within which systemd wants to hear Alive, 0 when it does not watch this process. Half of it is a good pace.
func Watchdog() (time.Duration, error) {
	within, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0, fmt.Errorf("read systemd's watchdog interval: %w", err)
	}
	return within, nil
}

func notify(state string) error {
	if _, err := daemon.SdNotify(false, state); err != nil {
		return fmt.Errorf("notify systemd of %s: %w", state, err)
	}
	return nil
}
