# What makes an installed Debian an image for Ignition, in the root at $R.
chroot "$R" depmod "$(ls "$R/usr/lib/modules")"

# Ignition 2.14 asks for a SELinux policy and for its program even where there is none.
mkdir -p "$R/etc/selinux" "$R/etc/systemd/network"
echo SELINUXTYPE=none >"$R/etc/selinux/config"
printf '#!/bin/sh\nexit 0\n' >"$R/usr/sbin/setfiles"
chmod 755 "$R/usr/sbin/setfiles"

# An empty machine-id would not count as a first boot, and units would not be enabled.
rm -f "$R/etc/machine-id" "$R/var/lib/dbus/machine-id"
echo uninitialized >"$R/etc/machine-id"
echo localhost >"$R/etc/hostname"
echo 'LABEL=onprem-root / ext4 defaults 0 0' >"$R/etc/fstab"
printf '[Match]\nName=en*\n[Network]\nDHCP=yes\n' >"$R/etc/systemd/network/10-dhcp.network"

cat >"$R/etc/systemd/system/ignition-complete.service" <<'E2'
[Unit]
Description=Record that Ignition has run
ConditionPathExists=/boot/ignition.firstboot

[Service]
Type=oneshot
ExecStart=/bin/rm /boot/ignition.firstboot

[Install]
WantedBy=multi-user.target
E2
chroot "$R" systemctl --quiet enable ignition-complete.service systemd-networkd.service
# systemd-firstboot asks questions on the console, for ever. The others cost time.
chroot "$R" systemctl --quiet mask systemd-firstboot.service systemd-networkd-wait-online.service \
	apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \
	e2scrub_reap.service fstrim.timer systemd-pstore.service
: >"$R/boot/ignition.firstboot"

cat >"$R/etc/dracut.conf.d/image.conf" <<'E2'
compress="zstd -3"
add_dracutmodules+=" ignition systemd-networkd "
omit_dracutmodules+=" bluetooth btrfs cifs crypt dmraid fcoe fcoe-uefi i18n iscsi lunmask lvm mdraid multipath nbd nfs plymouth resume terminfo usrmount "
drivers+=" ahci ext4 isofs nls_ascii nls_cp437 nvme sd_mod vfat virtio_blk virtio_net virtio_pci virtio_scsi "
E2

mkdir -p "$R/boot/grub"
cat >"$R/boot/grub/grub.cfg" <<'E2'
serial --unit=0
terminal_output serial
if [ -f /boot/ignition.firstboot ]; then
	set ignition="ignition.firstboot ignition.platform.id=openstack"
fi
linux /boot/vmlinuz root=LABEL=onprem-root rw console=ttyS0 $ignition
initrd /boot/initrd.img
boot
E2
