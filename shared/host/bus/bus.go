// Package bus calls other programs of the host over the system's message bus. It is the only
// importer of a D-Bus client.
package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/godbus/dbus/v5"
)

// patience is how long the other program may take.
const patience = 30 * time.Second

// Restart has systemd restart a unit if it runs, and returns when systemd has queued the job.
func Restart(ctx context.Context, unit string) error {
	return call(ctx, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
		"org.freedesktop.systemd1.Manager.TryRestartUnit", unit, "replace")
}

// rewriteDNS is NM_MANAGER_RELOAD_FLAG_DNS_RC: write resolv.conf again, and resolve again what
// depends on it.
const rewriteDNS = uint32(2)

// ReloadNetworkManager has NetworkManager write its resolv.conf again. A machine without
// NetworkManager has nothing to reload.
func ReloadNetworkManager(ctx context.Context) error {
	err := call(ctx, "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager",
		"org.freedesktop.NetworkManager.Reload", rewriteDNS)
	if fault := (dbus.Error{}); errors.As(err, &fault) &&
		(fault.Name == "org.freedesktop.DBus.Error.ServiceUnknown" ||
			fault.Name == "org.freedesktop.DBus.Error.NameHasNoOwner") {
		return nil
	}
	return err
}

// SetHostname sets the name of this machine, now and for later boots.
func SetHostname(ctx context.Context, name string) error {
	for _, method := range []string{"SetStaticHostname", "SetHostname"} {
		if err := call(ctx, "org.freedesktop.hostname1", "/org/freedesktop/hostname1",
			"org.freedesktop.hostname1."+method, name, false); err != nil {
			return err
		}
	}
	return nil
}

func call(ctx context.Context, service, path, method string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("connect to the system bus: %w", err)
	}
	defer conn.Close()
	if err := conn.Object(service, dbus.ObjectPath(path)).CallWithContext(ctx, method, 0,
		args...).Err; err != nil {
		return fmt.Errorf("call %s: %w", method, err)
	}
	return nil
}
