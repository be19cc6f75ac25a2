#!/usr/bin/busybox sh
# The first process of the ramdisk: devices, one network card, and ironic-python-agent. What it
# prints begins with "ramdisk:" and has the seconds since the kernel's start.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
# The kernel's arguments may name no console. A serial line that is not there refuses what is written.
if echo >/dev/ttyS0; then exec >/dev/ttyS0 2>&1; fi 2>/dev/null
report() { echo "ramdisk: $(cut -d' ' -f1 /proc/uptime) $*"; }
report start
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
for dir in /run /tmp /dev/shm; do mount -t tmpfs tmpfs $dir; done
hostname ramdisk
ip link set lo up

# Devices of other kinds have nothing to load, and each event costs time.
/usr/lib/systemd/systemd-udevd --daemon
set --
for kind in pci virtio nvme scsi net block rtc; do set -- "$@" --subsystem-match=$kind; done
udevadm trigger --action=add --type=devices "$@"
udevadm settle --timeout=60
if [ -d /sys/firmware/efi ]; then
	modprobe efivarfs
	mount -t efivarfs efivarfs /sys/firmware/efi/efivars
fi
# A soft power off presses the button, of which no init system here takes notice. An event has 24
# bytes. The shell has a poweroff of its own, which asks an init system.
modprobe -a button evdev
for device in /sys/class/input/event*; do
	[ "$(cat "$device/device/name")" = "Power Button" ] || continue
	(head -c 24 "/dev/input/${device##*/}" >/dev/null && /usr/sbin/poweroff) &
done
report devices

# iPXE names the card that it has booted from; without it every card is asked.
card=
for word in $(cat /proc/cmdline); do
	case $word in BOOTIF=*) card=$(echo "${word#BOOTIF=}" | sed 's/^01-//; s/-/:/g') ;; esac
done
for link in /sys/class/net/*; do
	name=${link##*/}
	[ "$name" != lo ] || continue
	[ -z "$card" ] || [ "$(cat "$link/address")" = "$card" ] || continue
	ip link set "$name" up
	busybox udhcpc -i "$name" -s /usr/share/onprem-lease -t 20 -T 1 -A 1 -b
	report "lease $name $(ip -4 -o addr show dev "$name" | awk '{print $4}')"
done

report "configured by $(ls /etc/ironic-python-agent.d | tr '\n' ' ')"
(
	while ! grep -q ':270F ' /proc/net/tcp /proc/net/tcp6; do sleep 0.3; done
	report "the agent listens"
) &
ironic-python-agent --config-dir /etc/ironic-python-agent.d
report "the agent ended with $?"
/usr/sbin/poweroff
