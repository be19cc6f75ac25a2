package capture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/advert"
)

// centisecond is the unit of an interval in version 3.
const centisecond = 10 * time.Millisecond

// checksumAt is where the checksum stands in an advert.
const checksumAt = 6

// slowerPause is the time between two adverts that Slower reads: a flood does not occupy it.
const slowerPause = 10 * time.Millisecond

// Delivered is an advert that the kernel delivered to this host.
type Delivered struct {
	advert.Advert
	Link string // that it came by
}

// Slower calls deliver for every advert of version 3 that the kernel delivers to this host, past
// its packet filter, if the advert's interval is longer than over. It calls from one goroutine at a
// time, until ctx ends. It returns an error when it cannot begin, or receives nothing any more.
//
// It needs the capability NET_RAW. The kernel compares the interval, so that other adverts cost
// nothing; and while it runs this host is one that accepts VRRP, as with keepalived.
func Slower(ctx context.Context, over time.Duration, deliver func(Delivered)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var one sync.Mutex
	var readers sync.WaitGroup
	defer readers.Wait()
	opened := 0
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		socket, err := listenSlower(family, over)
		if errors.Is(err, unix.EAFNOSUPPORT) {
			continue // a host without IPv6
		}
		if err != nil {
			end(nil)
			return fmt.Errorf("listen for slow adverts: %w", err)
		}
		opened++
		stop := context.AfterFunc(ctx, func() { socket.Close() })
		defer stop()
		readers.Go(func() {
			end(readSlower(ctx, socket, func(d Delivered) {
				one.Lock()
				defer one.Unlock()
				if d.Interval > over { // what came before the filter was set is read too
					deliver(d)
				}
			}))
		})
	}
	if opened == 0 {
		return errors.New("listen for slow adverts: this host has no IP")
	}
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("listen for slow adverts: %w", err)
	}
	return nil
}

// listenSlower opens a raw socket of VRRP, which is told the link and the destination of each
// packet.
func listenSlower(family int, over time.Duration) (*os.File, error) {
	return open(
		family,
		unix.SOCK_RAW,
		advert.Protocol,
		onlySlower(family, over),
		func(fd int) error {
			if family == unix.AF_INET {
				return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
			}
			return errors.Join(
				unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_CHECKSUM, checksumAt),
				unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1))
		},
	)
}

// onlySlower lets adverts of version 3 through whose interval is longer than over. A raw socket of
// IPv4 sees the packet from IP's header on, one of IPv6 from the advert on.
func onlySlower(family int, over time.Duration) []unix.SockFilter {
	begin := unix.SockFilter{Code: unix.BPF_LDX | unix.BPF_IMM, K: 0}
	if family == unix.AF_INET {
		begin = unix.SockFilter{Code: unix.BPF_LDX | unix.BPF_B | unix.BPF_MSH, K: 0}
	}
	const versionAndType, intervalAt, intervalMask = 0x31, 4, 0xfff
	return []unix.SockFilter{
		begin,
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_IND, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: versionAndType, Jf: 4},
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_IND, K: intervalAt},
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: intervalMask},
		{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, K: uint32(over / centisecond), Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: maxPacket},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
}

// readSlower reads until the socket is closed or fails.
func readSlower(ctx context.Context, socket *os.File, deliver func(Delivered)) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	packet, control := make([]byte, maxPacket), make([]byte, 128)
	for ctx.Err() == nil {
		n, controls, from, err := receive(raw, packet, control)
		if err != nil {
			return err
		}
		index, to := arrival(control[:controls])
		a, ok := readDelivered(packet[:n], from, to)
		if link := linkName(raw, index); ok && link != "" {
			deliver(Delivered{Advert: a, Link: link})
		}
		select {
		case <-ctx.Done():
		case <-time.After(slowerPause):
		}
	}
	return nil
}

// arrival is the index of the link that a packet came by, and its destination.
func arrival(control []byte) (index uint32, to netip.Addr) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0, netip.Addr{}
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_PKTINFO && len(m.Data) >= unix.SizeofInet4Pktinfo:
			return binary.NativeEndian.Uint32(m.Data), netip.AddrFrom4([4]byte(m.Data[8:12]))
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_PKTINFO && len(m.Data) >= unix.SizeofInet6Pktinfo:
			return binary.NativeEndian.Uint32(m.Data[16:]), netip.AddrFrom16([16]byte(m.Data[:16]))
		}
	}
	return 0, netip.Addr{}
}

// linkName asks for this one alone: a node has a link for each of its pods. It is empty for one
// that has gone.
func linkName(raw syscall.RawConn, index uint32) string {
	request, err := unix.NewIfreq("")
	if err != nil {
		return ""
	}
	request.SetUint32(index)
	var failed error
	err = raw.Control(
		func(fd uintptr) { failed = unix.IoctlIfreq(int(fd), unix.SIOCGIFNAME, request) })
	if err != nil || failed != nil {
		return ""
	}
	return request.Name()
}

// readDelivered reads what a raw socket received; ok is false for what no router would accept.
func readDelivered(packet []byte, from unix.Sockaddr, to netip.Addr) (a advert.Advert, ok bool) {
	var err error
	if six, is := from.(*unix.SockaddrInet6); is {
		a, err = advert.ReadDelivered(netip.AddrFrom16(six.Addr), packet)
		a.To = to
	} else {
		a, err = advert.Read(packet)
	}
	return a, err == nil && a.Accepted(false) // the host's packet filter has seen to IPv6's hop limit
}
