package chain

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// keyfile has NetworkManager manage the machine's link.
const keyfile = `[connection]
id=eth0
type=ethernet
interface-name=eth0
autoconnect=true

[ipv4]
%s

[ipv6]
%s
`

// managedPresets enable what an image with NetworkManager has enabled.
const managedPresets = `enable NetworkManager.service
enable NetworkManager-dispatcher.service
enable NetworkManager-wait-online.service
`

// Resolved is where resolv.conf points on a machine whose resolver is systemd-resolved, as images
// for Ignition have it.
const Resolved = "../run/systemd/resolve/stub-resolv.conf"

// Manage hands the link of a machine that does not run to NetworkManager: it has no address until
// NetworkManager gives it one, no name, and its resolv.conf names no server. ipv4 and ipv6 are
// those sections of a keyfile.
func (c *Chain) Manage(ctx context.Context, ipv4, ipv6 string) error {
	if out, err := c.Bootstrap.Command(ctx, "ip", "address", "flush", "dev", "eth0").CombinedOutput(); err != nil {
		return fmt.Errorf("take the machine's addresses: %w: %s", err, out)
	}
	var errs []error
	for _, f := range []struct {
		path, content string
		mode          os.FileMode
	}{
		{path: "/etc/NetworkManager/system-connections/eth0.nmconnection", content: fmt.Sprintf(keyfile, ipv4, ipv6), mode: 0o600},
		{path: "/etc/systemd/system-preset/10-networkmanager.preset", content: managedPresets, mode: 0o644},
		// nspawn gives the machine a name, which NetworkManager would respect.
		{path: "/etc/systemd/system/NetworkManager.service.d/10-unnamed.conf", content: "[Service]\nExecStartPre=+/bin/hostname localhost\n", mode: 0o644},
		{path: "/etc/resolv.conf", content: "# no name server yet\n", mode: 0o644},
	} {
		errs = append(errs, c.Machine.Write(f.path, []byte(f.content), f.mode))
	}
	return errors.Join(errs...)
}

// Resolve gives a machine that does not run systemd-resolved as its resolver.
func (c *Chain) Resolve() error {
	return errors.Join(
		c.Machine.Write("/etc/systemd/system-preset/10-resolved.preset", []byte("enable systemd-resolved.service\n"), 0o644),
		c.Machine.Link("/etc/resolv.conf", Resolved),
	)
}
