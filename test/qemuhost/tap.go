package qemuhost

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Tap is the end of a wire, whose other end is a link of the network in which it was made.
type Tap struct{ file *os.File }

// NewTap makes a link in the network of the calling thread. It goes when the tap is closed.
func NewTap(link string) (*Tap, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq(link)
	if err == nil {
		request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("make the link %s: %w", link, err)
	}
	return &Tap{os.NewFile(uintptr(fd), link)}, nil
}

// Close removes the link.
func (t *Tap) Close() error { return t.file.Close() }
