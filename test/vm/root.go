// Package vm boots a machine without a hypervisor: a Debian root file system, written to by the
// real Ignition, started by the real systemd as PID 1 of a container of its own, on a host of the
// lab. Inside, systemd, D-Bus, podman and the kernel's network are what they are on a bootstrap
// machine; the kernel is this machine's.
package vm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/debian"
)

// packages are what the root file system holds beside a minimal Debian: an init, a container
// engine, and tools to inspect it. Neither keepalived nor CoreDNS is among them: they come in
// images.
var packages = []string{
	"systemd", "systemd-sysv", "dbus", "iproute2", "curl", "ca-certificates", "procps",
	"podman", "runc", "catatonit", "conmon", "netavark", "aardvark-dns", "nftables",
}

// latePackages are what debootstrap cannot configure: NetworkManager's polkitd waits for triggers
// that run after debootstrap only.
var latePackages = []string{"network-manager", "systemd-resolved"}

// install installs packages in the root file system $R, starts nothing and enables nothing: at a
// first boot presets only add to what a package has enabled.
const install = `
mount -t proc proc "$R/proc"
printf '#!/bin/sh\nexit 101\n' >"$R/usr/sbin/policy-rc.d"
chmod 755 "$R/usr/sbin/policy-rc.d"
export DEBIAN_FRONTEND=noninteractive
chroot "$R" apt-get update -q
chroot "$R" apt-get install -q -y --no-install-recommends $PACKAGES
chroot "$R" apt-get clean
systemctl --root="$R" --quiet disable NetworkManager.service systemd-resolved.service
rm -r "$R/usr/sbin/policy-rc.d" "$R"/var/lib/apt/lists/*
`

// presets start nothing on a first boot but what a document asks for, as on a machine image that is
// made for Ignition.
const presets = `enable dbus.socket
disable *
`

// Root is the root file system that every machine starts from, of this machine's release of Debian.
// It is made by debootstrap at the first call, which takes minutes, and must not be written to
// afterwards.
func Root(ctx context.Context, log *slog.Logger) (string, error) {
	suite, err := Suite()
	if err != nil {
		return "", err
	}
	return RootOf(ctx, suite, log)
}

// RootOf is Root of one of Suites.
func RootOf(ctx context.Context, suite string, log *slog.Logger) (string, error) {
	sum := sha256.Sum256([]byte(suite + presets + install + strings.Join(slices.Concat(packages, latePackages), ",")))
	return cache.Dir(fmt.Sprintf("rootfs-%s-%x", suite, sum[:6]), func(dir string) error {
		mirror, err := debian.Mirror(ctx)
		if err != nil {
			return err
		}
		log.Info("debootstrap", "packages", strings.Join(slices.Concat(packages, latePackages), " "), "why", "no root file system in the cache, takes about two minutes")
		if err := run(exec.CommandContext(ctx, "debootstrap", "--variant=minbase", "--include="+strings.Join(packages, ","), suite, dir, mirror)); err != nil {
			return err
		}
		late := exec.CommandContext(ctx, "unshare", "--mount", "--propagation", "private", "sh", "-euc", install)
		late.Env = append(os.Environ(), "R="+dir, "PACKAGES="+strings.Join(latePackages, " "))
		if err := run(late); err != nil {
			return err
		}
		return prepare(dir)
	})
}

// prepare makes an installed system one that has never been booted.
func prepare(dir string) error {
	for _, path := range []string{"etc/machine-id", "var/lib/dbus/machine-id", "etc/hostname", "etc/resolv.conf"} {
		if err := os.Remove(filepath.Join(dir, path)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "var/cache/apt")); err != nil {
		return err
	}
	preset := filepath.Join(dir, "etc/systemd/system-preset/90-machine.preset")
	return errors.Join(
		os.Symlink("/dev/null", filepath.Join(dir, "etc/systemd/system/systemd-firstboot.service")),
		os.MkdirAll(filepath.Dir(preset), 0o755),
		os.WriteFile(preset, []byte(presets), 0o644),
	)
}

// run runs a command; its output is part of the error only.
func run(cmd *exec.Cmd) error {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, tail(out.Bytes()))
	}
	return nil
}

// tail is the end of an output, where the reason usually is.
func tail(out []byte) []byte {
	const most = 4096
	return bytes.TrimSpace(out[max(0, len(out)-most):])
}
