// Package osimage makes the disk image of an operating system, once on this machine: Debian 13 with
// systemd, and the real Ignition in its initramfs. It boots by BIOS and by UEFI. At its first boot
// it applies the document that a config drive has, as images of OpenStack and metal3 do.
package osimage

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/debian"
)

// packages are the operating system's. curl is for documents whose units report to a test.
var packages = []string{
	"ca-certificates", "curl", "dbus", "dracut", "dracut-network", "e2fsprogs", "fdisk", "gdisk",
	"ignition", "iproute2", "kmod", "passwd", "systemd-sysv", "udev", "zstd",
}

// drivers are the kernel's modules that stay, with those that they need.
var drivers = []string{
	"ahci", "autofs4", "button", "e1000e", "efivarfs", "evdev", "ext4", "isofs", "nls_ascii", "nls_cp437", "nls_utf8",
	"nvme", "overlay", "sd_mod", "sr_mod", "vfat", "virtio-rng", "virtio_blk", "virtio_net",
	"virtio_pci", "virtio_scsi",
}

//go:embed finish.sh
var finish string

//go:embed assemble.sh
var assemble string

func recipe() debian.Recipe {
	return debian.Recipe{Name: "os", Packages: packages,
		Unpacked: []string{"linux-image-cloud-amd64"}, Finish: finish}
}

// Image is a raw disk image with a GPT.
type Image struct {
	Path   string
	SHA256 string // in hexadecimal digits
}

// Build makes the image at the first call, which takes minutes.
func Build(ctx context.Context, log *slog.Logger) (Image, error) {
	dir, err := cache.Dir("osimage-"+version(), func(dir string) error {
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
	if err != nil {
		return Image{}, err
	}
	sum, err := os.ReadFile(filepath.Join(dir, "os.raw.sha256"))
	return Image{filepath.Join(dir, "os.raw"), strings.TrimSpace(string(sum))}, err
}

// version names all that the image is made of.
func version() string {
	text := strings.Join([]string{recipe().Version(), debian.Tools.Version(), assemble,
		strings.Join(drivers, " "), initramfs}, "\x00")
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%x", sum[:6])
}

// initramfs runs in the tree of the operating system.
const initramfs = `exec dracut --quiet --force --no-hostonly --kver "$1" /boot/initrd.img`

// pack makes the image in dir.
func pack(ctx context.Context, root, tools debian.Root, dir string) error {
	work := filepath.Join(dir, "work")
	tree := filepath.Join(work, "tree")
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	// Hard links: what is removed from the tree or replaced there stays in the root.
	if out, err := exec.CommandContext(ctx, "cp", "-al", string(root), tree).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", root, err, out)
	}
	modules, err := debian.NewModules(tree)
	if err != nil {
		return err
	}
	if err := modules.Prune(drivers...); err != nil {
		return err
	}
	inside := debian.Root(tree)
	for _, args := range [][]string{{"depmod", modules.Version}, {"sh", "-euc", initramfs, "sh", modules.Version}} {
		if err := inside.Run(ctx, nil, args...); err != nil {
			return err
		}
	}
	image := filepath.Join(dir, "os.raw")
	if err := tools.Run(ctx, []string{dir}, "sh", "-euc", assemble, "sh", work, image); err != nil {
		return err
	}
	if err := embed(image, filepath.Join(string(tools), "usr/lib/grub/i386-pc/boot.img"), filepath.Join(work, "core.img")); err != nil {
		return err
	}
	sum, err := digest(image)
	if err != nil {
		return err
	}
	return os.WriteFile(image+".sha256", []byte(sum+"\n"), 0o644)
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}
