// Package ironic runs the real Ironic: Debian's, in a root file system of its own, confined as its
// container on a bootstrap machine is, with the configuration that the product renders.
package ironic

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
	"strings"

	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/debian"
	"github.com/onprem-infra/onprem-infra/test/registry"
)

// suite is the oldest Debian whose Ironic inspects hosts by its own agent.
const suite = "trixie"

// packages are Ironic as one process with what its drivers run, and the programs of a network boot
// beside it.
var packages = []string{
	"ironic-common", "python3-ironic", "python3-sushy", "ipmitool", "xorriso",
	"ipxe", "dnsmasq-base",
}

// install installs packages in the root file system $R and starts nothing. Debian's correction of
// CVE-2026-44918 in release 29.0.5 makes each node its own parent at its first change: the node
// vanishes from lists. The edit leaves a parent that is the node itself alone.
const install = `
mount -t proc proc "$R/proc"
printf '#!/bin/sh\nexit 101\n' >"$R/usr/sbin/policy-rc.d"
chmod 755 "$R/usr/sbin/policy-rc.d"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
chroot "$R" apt-get update -q
chroot "$R" apt-get install -q -y --no-install-recommends $PACKAGES
chroot "$R" apt-get clean
rm -r "$R/usr/sbin/policy-rc.d" "$R"/var/lib/apt/lists/*
node=/usr/lib/python3/dist-packages/ironic/api/controllers/v1/node.py
sed -i "s/^            corrected_values\['parent_node'\] = parent_node\.uuid\$/            if parent_node.uuid != rpc_node.uuid:\n    &/" "$R$node"
chroot "$R" python3 -m py_compile "$node"
mkdir -p "$R/var/lib/onprem-infra/provisioning"
`

// Root is the root file system with Ironic. It is made by debootstrap at the first call, which
// takes minutes, and must not be written to afterwards.
func Root(ctx context.Context, log *slog.Logger) (string, error) {
	names := strings.Join(packages, " ")
	sum := sha256.Sum256([]byte(suite + install + names))
	return cache.Dir(fmt.Sprintf("ironic-%s-%x", suite, sum[:6]), func(dir string) error {
		mirror, err := debian.Mirror(ctx)
		if err != nil {
			return err
		}
		log.Info("debootstrap", "packages", names, "why", "no root file system with Ironic in the cache, takes some minutes")
		if err := run(exec.CommandContext(ctx, "debootstrap", "--variant=minbase", "--include=ca-certificates", suite, dir, mirror)); err != nil {
			return err
		}
		add := exec.CommandContext(ctx, "unshare", "--mount", "--propagation", "private", "sh", "-euc", install)
		add.Env = append(os.Environ(), "R="+dir, "PACKAGES="+names)
		if err := run(add); err != nil {
			return err
		}
		for _, path := range []string{"etc/machine-id", "etc/hostname", "etc/resolv.conf"} {
			if err := os.Remove(filepath.Join(dir, path)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}

// run runs a command; its output is part of the error only.
func run(cmd *exec.Cmd) error {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		const most = 4096
		text := out.Bytes()
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args[:2], " "), err, text[max(0, len(text)-most):])
	}
	return nil
}

// Image is a directory with a container image of the root, as registry.MakeImage has it.
func Image(ctx context.Context, log *slog.Logger) (string, error) {
	root, err := Root(ctx, log)
	if err != nil {
		return "", err
	}
	return cache.Dir("image-of-"+filepath.Base(root), func(dir string) error {
		log.Info("make a container image", "root", filepath.Base(root), "why", "none in the cache")
		return registry.MakeImage(ctx, root, dir)
	})
}
