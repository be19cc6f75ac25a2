// Package ramdisk makes the ramdisk that Ironic boots hosts with, once on this machine: a kernel of
// Debian 13, and an initramfs with the real ironic-python-agent.
//
// The agent's package depends on a gigabyte, most of which no host needs. So it is unpacked over
// the Python modules that it imports and the programs that it runs. A small initramfs mounts all
// that from a compressed file system inside of it, which starts three times as fast as one that the
// kernel unpacks.
package ramdisk

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/debian"
)

//go:embed early.sh
var early []byte

//go:embed init.sh
var first []byte

//go:embed lease.sh
var lease []byte

// modules are what the agent imports of other packages.
var modules = []string{
	"cryptography", "eventlet", "netaddr", "oslo.concurrency", "oslo.config", "oslo.log",
	"oslo.service", "oslo.utils", "pbr", "pint", "psutil", "pyudev", "requests", "stevedore",
	"tenacity", "tooz", "werkzeug", "zeroconf",
}

// programs are what the agent runs, and what starts it. It takes a missing one for a failed step.
var programs = []string{
	"bsdextrautils", "busybox-static", "ca-certificates", "dmidecode", "dosfstools", "e2fsprogs",
	"efibootmgr", "ethtool", "fdisk", "gdisk", "genisoimage", "hdparm", "iproute2", "kmod", "lshw",
	"lsscsi", "mdadm", "nvme-cli", "parted", "pciutils", "procps", "psmisc", "python3-minimal",
	"qemu-utils", "smartmontools", "udev", "util-linux", "util-linux-extra",
}

// finish makes the kernel's list of its modules, which its package would make, and the bytecode of
// the agent. The ramdisk has no init system, so poweroff and reboot are the kernel's.
const finish = `
chroot "$R" depmod "$(ls "$R/usr/lib/modules")"
chroot "$R" python3 -m compileall -q /usr/lib/python3/dist-packages/ironic_python_agent
for program in poweroff reboot; do
	rm -f "$R/usr/sbin/$program"
	printf '#!/bin/sh\nsync\nexec busybox %s -f\n' $program >"$R/usr/sbin/$program"
	chmod 755 "$R/usr/sbin/$program"
done
mkdir -p "$R/etc/ironic-python-agent.d"
`

func recipe() debian.Recipe {
	r := debian.Recipe{Name: "agent", Packages: programs, Finish: finish,
		Unpacked: []string{"linux-image-cloud-amd64", "ironic-python-agent"}}
	for _, name := range modules {
		r.Packages = append(r.Packages, "python3-"+name)
	}
	return r
}

// Files are the two that a host boots.
type Files struct{ Kernel, Initramfs string }

// Build makes the files at the first call, which takes minutes.
func Build(ctx context.Context, log *slog.Logger) (Files, error) {
	made, err := version()
	if err != nil {
		return Files{}, err
	}
	dir, err := cache.Dir("ramdisk-"+made, func(dir string) error {
		root, err := recipe().Root(ctx, log)
		if err != nil {
			return err
		}
		tools, err := debian.Tools.Root(ctx, log)
		if err != nil {
			return err
		}
		if err := pack(ctx, root, tools, dir); err != nil {
			return err
		}
		// The root is some ten times as large as what was made of it.
		return errors.Join(os.RemoveAll(filepath.Join(dir, "work")), root.Discard())
	})
	return Files{filepath.Join(dir, "agent.kernel"), filepath.Join(dir, "agent.initramfs")}, err
}

// version names all that the files are made of.
func version() (string, error) {
	sum := sha256.New()
	for _, part := range []string{recipe().Version(), debian.Tools.Version(), string(early),
		string(first), string(lease), pruned(), packed} {
		fmt.Fprintf(sum, "%d %s", len(part), part)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:6]), nil
}

// packed makes a compressed file system of $TREE.
const packed = `mksquashfs "$TREE" "$OUT" -quiet -no-progress -noappend -all-root -comp zstd -Xcompression-level 15 -b 128K`

// pack makes the files in dir.
func pack(ctx context.Context, root, tools debian.Root, dir string) error {
	work := filepath.Join(dir, "work")
	tree, initramfs := filepath.Join(work, "tree"), filepath.Join(work, "initramfs")
	if err := os.MkdirAll(filepath.Join(initramfs, "modules"), 0o755); err != nil {
		return err
	}
	// Hard links: what is removed from the tree or replaced there stays in the root.
	if out, err := exec.CommandContext(ctx, "cp", "-al", string(root), tree).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", root, err, out)
	}
	kernels, err := filepath.Glob(filepath.Join(tree, "boot/vmlinuz-*"))
	if err != nil || len(kernels) != 1 {
		return fmt.Errorf("the root has the kernels %v, %v, want one", kernels, err)
	}
	if err := os.Rename(kernels[0], filepath.Join(dir, "agent.kernel")); err != nil {
		return err
	}
	modules, err := debian.NewModules(tree)
	if err != nil {
		return err
	}
	if err := prune(tree, modules); err != nil {
		return err
	}
	dirs := []string{dir}
	err = tools.Run(ctx, dirs, "sh", "-euc", `find "$1/usr/lib/modules" -name '*.ko.xz' -exec xz -df {} +`, "sh", tree)
	if err == nil {
		err = root.Run(ctx, dirs, "depmod", "--basedir", tree, modules.Version)
	}
	if err != nil {
		return err
	}
	if err := boot(tree, initramfs, modules); err != nil {
		return err
	}
	squashfs := filepath.Join(initramfs, "root.squashfs")
	if err := tools.Run(ctx, dirs, "sh", "-euc", strings.NewReplacer("$TREE", tree, "$OUT", squashfs).Replace(packed)); err != nil {
		return err
	}
	content, err := archiveTree(initramfs)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "agent.initramfs"), content, 0o644)
}

// boot puts in what starts the agent, and what starts that.
func boot(tree, initramfs string, m *debian.Modules) error {
	busybox, err := os.ReadFile(filepath.Join(tree, "usr/bin/busybox"))
	if err != nil {
		return err
	}
	var order strings.Builder
	for _, file := range m.Needed("loop", "squashfs", "overlay") {
		name := strings.TrimSuffix(filepath.Base(file), ".xz")
		content, err := os.ReadFile(strings.TrimSuffix(filepath.Join(m.Dir, file), ".xz"))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(initramfs, "modules", name), content, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(&order, name)
	}
	files := []struct {
		path    string
		content []byte
		mode    os.FileMode
	}{
		{filepath.Join(initramfs, "modules/order"), []byte(order.String()), 0o644},
		{filepath.Join(initramfs, "bin/busybox"), busybox, 0o755},
		{filepath.Join(initramfs, "init"), early, 0o755},
		{filepath.Join(tree, "init"), first, 0o755},
		{filepath.Join(tree, "usr/share/onprem-lease"), lease, 0o755},
	}
	for _, f := range files {
		err := errors.Join(os.MkdirAll(filepath.Dir(f.path), 0o755), os.WriteFile(f.path, f.content, f.mode))
		if err != nil {
			return err
		}
	}
	var errs []error
	for _, name := range []string{"awk", "cat", "cp", "insmod", "losetup", "mkdir", "mount", "switch_root", "umount"} {
		errs = append(errs, os.Symlink("busybox", filepath.Join(initramfs, "bin", name)))
	}
	for _, name := range []string{"dev", "proc", "sys", "run", "tmp", "var/log", "var/lib/ironic-python-agent"} {
		errs = append(errs, os.MkdirAll(filepath.Join(tree, name), 0o755))
	}
	return errors.Join(errs...)
}
