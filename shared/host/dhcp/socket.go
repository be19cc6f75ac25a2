// Package dhcp asks and watches which servers configure hosts of a link: DHCP, ProxyDHCP, DHCPv6
// and router advertisements. It takes no lease, and needs no address on the link.
package dhcp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/dhcp/wire"
	"github.com/onprem-infra/onprem-infra/shared/host/socket"
)

// maxPacket is the longest packet that is read whole. One of 9000 bytes is no server's answer to
// a client that states 1472.
const maxPacket = 2048

// A flood on the link is read no faster than this.
const (
	maxBurst = 200
	burst    = 100 * time.Millisecond
)

// only passes what package wire reads, from IP's header on: UDP from the ports 67 and 4011, to 67,
// and from or to 547, and neighbour discovery's messages 134 and 135.
func only() ([]unix.SockFilter, error) {
	const no, yes = 22, 21 // the instructions that end it
	jump := func(at int, value uint32, to, other int) bpf.Instruction {
		skip := func(line int) uint8 { return uint8(line - at - 1) }
		return bpf.JumpIf{
			Cond: bpf.JumpEqual, Val: value, SkipTrue: skip(to), SkipFalse: skip(other)}
	}
	raw, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtProto},
		jump(1, wire.TypeIPv4, 3, 2),
		jump(2, wire.TypeIPv6, 11, no),
		bpf.LoadAbsolute{Off: 9, Size: 1}, // 3: IPv4's protocol
		jump(4, unix.IPPROTO_UDP, 5, no),
		bpf.LoadMemShift{Off: 0}, // the length of its header
		bpf.LoadIndirect{Off: 0, Size: 2},
		jump(7, 67, yes, 8),
		jump(8, 4011, yes, 9),
		bpf.LoadIndirect{Off: 2, Size: 2},
		jump(10, 67, yes, no),
		bpf.LoadAbsolute{Off: 6, Size: 1}, // 11: IPv6's protocol
		jump(12, unix.IPPROTO_UDP, 13, 17),
		bpf.LoadAbsolute{Off: 40, Size: 2},
		jump(14, 547, yes, 15),
		bpf.LoadAbsolute{Off: 42, Size: 2},
		jump(16, 547, yes, no),
		jump(17, unix.IPPROTO_ICMPV6, 18, no), // 17
		bpf.LoadAbsolute{Off: 40, Size: 1},
		jump(19, 134, yes, 20),
		jump(20, 135, yes, no),
		bpf.RetConstant{Val: maxPacket}, // 21
		bpf.RetConstant{Val: 0},         // 22
	})
	if err != nil {
		return nil, fmt.Errorf("assemble the filter: %w", err)
	}
	var filter []unix.SockFilter
	for _, i := range raw {
		filter = append(filter, unix.SockFilter{Code: i.Op, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	return filter, nil
}

// open opens a link for packets. It is a tap of all protocols, so that it receives before any
// packet filter, and also what a VLAN's link or a bridge takes.
func open(on *net.Interface, groups ...net.HardwareAddr) (*os.File, error) {
	filter, err := only()
	if err != nil {
		return nil, err
	}
	options := []socket.Option{
		socket.Only(filter), socket.Int(unix.SOL_PACKET, unix.PACKET_AUXDATA, 1),
		socket.Bind(socket.Frames(unix.ETH_P_ALL, on.Index)),
	}
	for _, group := range groups {
		options = append(options, func(fd int) error {
			member := &unix.PacketMreq{
				Ifindex: int32(on.Index), Type: unix.PACKET_MR_MULTICAST, Alen: 6}
			copy(member.Address[:], group)
			return unix.SetsockoptPacketMreq(
				fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, member)
		})
	}
	fd, err := socket.Open(unix.AF_PACKET, unix.SOCK_DGRAM, 0, options...)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), on.Name), nil
}

// ethernet finds a link by name.
func ethernet(name string) (*net.Interface, error) {
	on, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	if len(on.HardwareAddr) != 6 {
		return nil, errors.New("the link is no Ethernet")
	}
	return on, nil
}

// send sends a packet from the link's own MAC: switches and hypervisors drop frames of others. A
// full queue loses it, as the wire may.
func send(raw syscall.RawConn, on *net.Interface, p wire.Packet) error {
	to := socket.Frames(p.Type, on.Index)
	to.Halen = 6
	copy(to.Addr[:], p.To)
	var failed error
	err := raw.Control(func(fd uintptr) { failed = unix.Sendto(int(fd), p.Bytes, 0, to) })
	if errors.Is(failed, unix.ENOBUFS) || errors.Is(failed, unix.EAGAIN) {
		failed = nil
	}
	return errors.Join(err, failed)
}

// receive passes packets of other hosts on until ctx ends, which is no error. The bytes are
// overwritten by the next packet.
func receive(ctx context.Context, from *os.File, packet func(wire.Received)) error {
	stop := context.AfterFunc(ctx, func() { _ = from.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	raw, err := from.SyscallConn()
	if err != nil {
		return err
	}
	buffer, control := make([]byte, maxPacket), make([]byte, unix.CmsgSpace(auxiliary))
	begin, count := time.Now(), 0
	for ctx.Err() == nil {
		if count++; count > maxBurst { // the kernel's queue overflows meanwhile
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(burst - time.Since(begin)):
			}
		}
		if time.Since(begin) >= burst {
			begin, count = time.Now(), 0
		}
		n, controls, sender, err := one(raw, buffer, control)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if sender == nil || sender.Pkttype == unix.PACKET_OUTGOING || sender.Halen != 6 {
			continue
		}
		packet(wire.Received{
			Bytes: buffer[:n], MAC: append(net.HardwareAddr{}, sender.Addr[:6]...),
			VLAN: tag(control[:controls]), At: time.Now(),
		})
	}
	return nil
}

func one(
	raw syscall.RawConn, buffer, control []byte,
) (n, controls int, sender *unix.SockaddrLinklayer, err error) {
	var failed error
	var from unix.Sockaddr
	err = raw.Read(func(fd uintptr) bool {
		n, controls, _, from, failed = unix.Recvmsg(int(fd), buffer, control, 0)
		return !errors.Is(failed, unix.EAGAIN) && !errors.Is(failed, unix.EINTR)
	})
	sender, _ = from.(*unix.SockaddrLinklayer)
	return n, controls, sender, errors.Join(err, failed)
}

// auxiliary is the size of the kernel's struct tpacket_auxdata.
const auxiliary = 20

// tag is the VLAN of a frame, which the kernel has taken out of it (packet(7), PACKET_AUXDATA).
func tag(control []byte) uint16 {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0
	}
	for _, m := range messages {
		if m.Header.Level != unix.SOL_PACKET || m.Header.Type != unix.PACKET_AUXDATA ||
			len(m.Data) < auxiliary {
			continue
		}
		if binary.NativeEndian.Uint32(m.Data)&unix.TP_STATUS_VLAN_VALID != 0 {
			return binary.NativeEndian.Uint16(m.Data[16:]) & 0xfff
		}
	}
	return 0
}

// pending is an error that waits at a socket, such as that its link is down.
func pending(raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		var code int
		code, failed = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR)
		if code != 0 {
			failed = unix.Errno(code)
		}
	})
	return errors.Join(err, failed)
}
