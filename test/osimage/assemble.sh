# Makes the disk image $2 of the tree in $1/tree, which it slims. It runs in the root of tools.
work=$1 image=$2 tree=$1/tree
kernel=$(ls "$tree"/boot/vmlinuz-*)
mv "$kernel" "$tree/boot/vmlinuz"
rm -rf "$tree"/boot/System.map-* "$tree"/boot/config-* "$tree"/dev "$tree"/tmp/* "$tree"/var/tmp/* \
	"$tree"/usr/bin/ignition-validate "$tree"/usr/lib/apt "$tree"/usr/lib/dracut \
	"$tree"/usr/lib/udev/hwdb.bin "$tree"/usr/lib/udev/hwdb.d "$tree"/usr/share/bash-completion \
	"$tree"/usr/share/doc "$tree"/usr/share/locale "$tree"/usr/share/man "$tree"/usr/share/zoneinfo \
	"$tree"/var/cache/apt "$tree"/var/lib/apt "$tree"/var/lib/dpkg "$tree"/usr/lib/x86_64-linux-gnu/gconv
# Nothing under /usr has changed since: services that would go through it do not run.
touch "$tree/etc/.updated" "$tree/var/.updated"
mkdir -p "$tree/dev" "$tree/proc" "$tree/sys" "$tree/run" "$tree/tmp" "$tree/var/lib/dpkg"

# Both of GRUB's programs find the same configuration, by the file system's label.
cat >"$work/early.cfg" <<'E2'
search --label onprem-root --set root
set prefix=($root)/boot/grub
configfile /boot/grub/grub.cfg
E2
common='configfile echo ext2 linux minicmd normal part_gpt search search_label serial terminal test'
grub-mkimage -O x86_64-efi -p /boot/grub -c "$work/early.cfg" -o "$work/bootx64.efi" $common fat
grub-mkimage -O i386-pc -p /boot/grub -c "$work/early.cfg" -o "$work/core.img" $common biosdisk

size=$(($(du -sm "$tree" | cut -f1) * 115 / 100 + 24)) # MB of the root file system
truncate -s "${size}M" "$work/root"
mke2fs -q -t ext4 -L onprem-root -E root_owner=0:0 -O ^has_journal -m 0 -d "$tree" "$work/root"
truncate -s 8M "$work/esp"
mkfs.vfat -n ESP "$work/esp" >/dev/null
mmd -i "$work/esp" ::EFI ::EFI/BOOT
mcopy -i "$work/esp" "$work/bootx64.efi" ::EFI/BOOT/BOOTX64.EFI

# MB 1 is for GRUB's core, 2 to 9 are the ESP, and the last one has the second table.
truncate -s "$((size + 11))M" "$image"
sfdisk -q "$image" <<E2
label: gpt
start=2048, size=2048, type=21686148-6449-6E6F-744E-656564454649
start=4096, size=16384, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B
start=20480, size=$((size * 2048)), type=0FC63DAF-8483-4772-8E79-3D69D8477DE4
E2
dd if="$work/esp" of="$image" bs=1M seek=2 conv=notrunc,sparse status=none
dd if="$work/root" of="$image" bs=1M seek=10 conv=notrunc,sparse status=none
