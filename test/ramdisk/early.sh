#!/bin/busybox sh
# The first process of the initramfs: it starts the one of the file system in root.squashfs.
# Changes of files there are kept in memory. Whatever an archive behind this initramfs has put into
# /etc is in that file system's /etc.
export PATH=/bin
mkdir -p /proc /dev /changes /lower /root
mount -t proc proc /proc
mount -t devtmpfs dev /dev
while read -r module; do insmod "/modules/$module"; done </modules/order
mount -t tmpfs -o size=90% tmpfs /changes
mkdir /changes/upper /changes/work
losetup /dev/loop0 /root.squashfs
mount -t squashfs -o ro /dev/loop0 /lower
mount -t overlay -o lowerdir=/lower,upperdir=/changes/upper,workdir=/changes/work overlay /root
[ ! -d /etc ] || cp -a /etc/. /root/etc/
mount --move /dev /root/dev
umount /proc
exec switch_root /root /init
