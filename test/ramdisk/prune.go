package ramdisk

import (
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/test/debian"
)

// unused are what no program of the ramdisk reads, as patterns.
var unused = []string{
	"boot", "home", "media", "mnt", "opt", "srv", "usr/games", "usr/include", "usr/src", "var/cache",
	"var/lib/apt", "var/lib/dpkg", "var/log",
	"usr/bin/apt*", "usr/bin/dpkg*", "usr/bin/openssl", "usr/bin/perl*", "usr/bin/qemu-io",
	"usr/bin/qemu-nbd", "usr/bin/qemu-storage-daemon",
	"usr/lib/apt", "usr/lib/dpkg", "usr/lib/file", "usr/lib/locale", "usr/lib/python3/dist-packages/*/test",
	"usr/lib/python3/dist-packages/*/tests", "usr/lib/python3.*/ensurepip", "usr/lib/python3.*/idlelib",
	"usr/lib/python3.*/pydoc_data", "usr/lib/python3.*/unittest", "usr/lib/udev/hwdb.*",
	"usr/lib/x86_64-linux-gnu/gconv", "usr/lib/x86_64-linux-gnu/perl*", "usr/sbin/smartd",
	"usr/share/bash-completion", "usr/share/debconf", "usr/share/doc", "usr/share/ieee-data",
	"usr/share/javascript", "usr/share/locale", "usr/share/man", "usr/share/misc/usb*", "usr/share/perl*",
	"usr/share/python-babel-localedata", "usr/share/smartmontools", "usr/share/terminfo", "usr/share/zoneinfo",
}

// drivers are the kernel's modules that stay, with those that they need.
var drivers = []string{
	"ahci", "button", "dm-mod", "e1000e", "efivarfs", "evdev", "ext4", "isofs", "loop", "nls_ascii",
	"nls_cp437", "nls_utf8", "nvme", "overlay", "raid1", "sd_mod", "sr_mod", "squashfs", "vfat",
	"virtio-rng", "virtio_blk", "virtio_net", "virtio_pci", "virtio_scsi", "xfs",
}

// loaded are libraries that programs load by name, without being linked to them.
var loaded = []string{"libgcc_s.so.1", "libnss_dns.so.2", "libnss_files.so.2"}

// pruned is the text of all lists, for the version of what is made by them.
func pruned() string {
	return strings.Join(slices.Concat(unused, drivers, loaded), "\n")
}

// prune removes from a tree what the agent does not need.
func prune(tree string, m *debian.Modules) error {
	for _, pattern := range unused {
		paths, err := filepath.Glob(filepath.Join(tree, pattern))
		if err != nil {
			return err
		}
		for _, p := range paths {
			if err := os.RemoveAll(p); err != nil {
				return err
			}
		}
	}
	return errors.Join(m.Prune(drivers...), pruneLibraries(tree))
}

// pruneLibraries removes libraries that nothing is linked to any more.
func pruneLibraries(tree string) error {
	libraries := filepath.Join(tree, "usr/lib/x86_64-linux-gnu")
	wanted := slices.Clone(loaded)
	for _, dir := range []string{"usr/bin", "usr/sbin", "usr/lib/python3", "usr/lib/python3.*", "usr/lib/systemd", "usr/lib/udev",
		"usr/lib/x86_64-linux-gnu/ossl-modules", "usr/lib/x86_64-linux-gnu/systemd"} {
		dirs, err := filepath.Glob(filepath.Join(tree, dir))
		if err != nil {
			return err
		}
		for _, d := range dirs {
			if err := filepath.WalkDir(d, func(p string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					wanted = append(wanted, linked(p)...)
				}
				return err
			}); err != nil {
				return err
			}
		}
	}
	keep := map[string]bool{}
	for len(wanted) > 0 {
		name := wanted[0]
		wanted = wanted[1:]
		real, err := filepath.EvalSymlinks(filepath.Join(libraries, name))
		if keep[name] || err != nil { // in a directory of its own, which stays
			continue
		}
		keep[name], keep[filepath.Base(real)] = true, true
		wanted = append(wanted, linked(real)...)
	}
	entries, err := os.ReadDir(libraries)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), ".so") && !e.IsDir() && !keep[e.Name()] {
			if err := os.Remove(filepath.Join(libraries, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// linked are the libraries that a file is linked to; none for what is no program.
func linked(path string) []string {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.ImportedLibraries()
	if err != nil {
		return nil
	}
	return names
}
