package lab

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// everything is ETH_P_ALL in the order of the network.
const everything = unix.ETH_P_ALL>>8 | unix.ETH_P_ALL&0xff<<8

// tap opens a link of this thread's network for frames with a virtio header, which has the
// checksums and segments that the kernel offloads to the card. It reads and writes frames of the
// wire.
func tap(link string) (*os.File, error) {
	at, err := net.InterfaceByName(link)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s for frames: %w", link, err)
	}
	for _, option := range []int{unix.PACKET_VNET_HDR, unix.PACKET_IGNORE_OUTGOING} {
		if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, option, 1); err != nil {
			unix.Close(fd)
			return nil, fmt.Errorf("open %s for frames: option %d: %w", link, option, err)
		}
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{
		Protocol: everything, Ifindex: at.Index,
	}); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("open %s for frames: %w", link, err)
	}
	return os.NewFile(uintptr(fd), link), nil
}

// nameOf is a link's name in the network of a socket.
func nameOf(fd, index int) (string, error) {
	request, err := unix.NewIfreq("any")
	if err != nil {
		return "", err
	}
	request.SetUint32(uint32(index))
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFNAME, request); err != nil {
		return "", err
	}
	return request.Name(), nil
}
