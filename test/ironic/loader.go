package ironic

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/debian"
	"github.com/onprem-infra/onprem-infra/test/registry"
)

// loaderFile is the file at the top of an image of Ironic that is its boot loader.
const loaderFile = "esp.img"

// makeLoader makes the file system of a boot loader in the directory $1: a real GRUB, which reads
// /EFI/onprem/grub.cfg.
const makeLoader = `cd "$1"
grub-mkimage -O x86_64-efi -p /EFI/onprem -o BOOTX64.EFI iso9660 fat linux normal configfile
truncate -s 4M ` + loaderFile + `
mkfs.msdos -F 12 -n ESP_IMAGE ` + loaderFile + `
mmd -i ` + loaderFile + ` ::EFI ::EFI/BOOT
mcopy -i ` + loaderFile + ` BOOTX64.EFI ::EFI/BOOT/
rm BOOTX64.EFI
chmod 644 ` + loaderFile

// loader is a directory with nothing but a boot loader for virtual media.
func loader(ctx context.Context, log *slog.Logger) (string, error) {
	tools, err := debian.Tools.Root(ctx, log)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(makeLoader + string(tools)))
	return cache.Dir(fmt.Sprintf("loader-%x", sum[:6]), func(dir string) error {
		return tools.Run(ctx, []string{dir}, "sh", "-euc", makeLoader, "sh", dir)
	})
}

// MediaImage is like Image, with a boot loader for virtual media.
func MediaImage(ctx context.Context, log *slog.Logger) (string, error) {
	root, err := Root(ctx, log)
	if err != nil {
		return "", err
	}
	with, err := loader(ctx, log)
	if err != nil {
		return "", err
	}
	name := "image-of-" + filepath.Base(root) + "-" + filepath.Base(with)
	return cache.Dir(name, func(dir string) error { return registry.MakeImage(ctx, root, dir, filepath.Join(with, loaderFile)) })
}
