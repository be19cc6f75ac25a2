// Package lldp waits for what a switch announces to a link by LLDP. It sends nothing.
package lldp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/socket"
	"github.com/onprem-infra/onprem-infra/shared/lldp"
)

// maxFrame is the longest frame that is read whole.
const maxFrame = 1514

// nearest is LLDP's multicast group, which no switch forwards: frames come from the next switch.
var nearest = [8]byte{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e}

// Wait is the first announcement on a link; nil, without an error, if none came until ctx ended.
// Switches send one every 30 s. A bridge or a bond gets none: they stay at its ports.
func Wait(ctx context.Context, link string) (*lldp.Neighbor, error) {
	on, err := net.InterfaceByName(link)
	if err != nil {
		return nil, err
	}
	fd, err := socket.Open(unix.AF_PACKET, unix.SOCK_DGRAM, 0,
		socket.Bind(socket.Frames(lldp.Type, on.Index)), func(fd int) error {
			return unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP,
				&unix.PacketMreq{Ifindex: int32(on.Index), Type: unix.PACKET_MR_MULTICAST,
					Alen: 6, Address: nearest})
		})
	if err != nil {
		return nil, fmt.Errorf("listen for LLDP on %s: %w", link, err)
	}
	from := os.NewFile(uintptr(fd), "LLDP")
	defer from.Close()
	stop := context.AfterFunc(ctx, func() { _ = from.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	for frame := make([]byte, maxFrame); ; {
		n, err := read(from, frame)
		if ctx.Err() != nil {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("listen for LLDP on %s: %w", link, err)
		}
		if announced, err := lldp.Parse(frame[:n]); err == nil {
			return &announced, nil
		}
	}
}

// read reads a frame of another host: only sockets of ETH_P_ALL get those that this host sends.
func read(from *os.File, frame []byte) (n int, err error) {
	raw, err := from.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		n, _, failed = unix.Recvfrom(int(fd), frame, 0)
		return !errors.Is(failed, unix.EAGAIN) && !errors.Is(failed, unix.EINTR)
	})
	return n, errors.Join(err, failed)
}
