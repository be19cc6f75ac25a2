// Package sockets lists the sockets of a host, and ends TCP connections.
package sockets

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
)

// Listener is a socket of this host that receives at a port.
type Listener struct {
	Network string         // "udp" or "tcp"
	Local   netip.AddrPort // the address is unspecified if it receives at all
	Device  int            // the index of the only link that it receives on; 0 for all
	Inode   uint32         // of the socket, by which a process is found
}

// Listeners are the sockets of this network namespace that receive UDP, or TCP connections.
func Listeners() (out []Listener, err error) {
	for _, ask := range []struct {
		network string
		dump    func(family uint8) ([]*netlink.Socket, error)
	}{{"udp", netlink.SocketDiagUDP}, {"tcp", netlink.SocketDiagTCP}} {
		for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
			all, err := link.Dump(func() ([]*netlink.Socket, error) { return ask.dump(family) })
			if err != nil {
				return nil, fmt.Errorf("list %s sockets: %w", ask.network, err)
			}
			for _, s := range all {
				if ask.network == "tcp" && s.State != listens || s.ID.DestinationPort != 0 {
					continue
				}
				out = append(out, Listener{
					Network: ask.network, Local: session(s.ID).Local, Device: int(s.ID.Interface),
					Inode: s.INode,
				})
			}
		}
	}
	return out, nil
}
