#!/usr/bin/busybox sh
# Called by udhcpc: it configures what a lease has.
case $1 in bound | renew) ;; *) exit 0 ;; esac
ip addr replace "$ip/$mask" dev "$interface"
for one in $router; do ip route replace default via "$one"; done
: >/etc/resolv.conf
for one in $dns; do echo "nameserver $one" >>/etc/resolv.conf; done
