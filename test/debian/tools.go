package debian

// Tools has qemu with firmware for both ways to boot, and what makes file systems and disk images
// without a loop device.
var Tools = Recipe{Name: "tools", Packages: []string{
	"dosfstools", "e2fsprogs", "fdisk", "grub-efi-amd64-bin", "grub-pc-bin", "ipxe-qemu", "mtools",
	"ovmf", "qemu-system-x86", "squashfs-tools", "xz-utils",
}}
