package capture

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/host/socket"
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
	var sockets []*os.File
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		socket, err := listenSlower(family, over)
		if errors.Is(err, unix.EAFNOSUPPORT) {
			continue // a host without IPv6
		}
		if err != nil {
			closeAll(sockets)
			return fmt.Errorf("listen for slow adverts: %w", err)
		}
		sockets = append(sockets, socket)
	}
	if len(sockets) == 0 {
		return errors.New("listen for slow adverts: this host has no IP")
	}
	longer := oneAtATime(func(d Delivered) {
		if d.Interval > over { // what came before the filter was set is read too
			deliver(d)
		}
	})
	err := read(ctx, sockets, func(ctx context.Context, raw syscall.RawConn) error {
		return readSlower(ctx, raw, longer)
	})
	if err != nil {
		return fmt.Errorf("listen for slow adverts: %w", err)
	}
	return nil
}

// listenSlower opens a raw socket of VRRP. The kernel reports each packet's link and destination.
func listenSlower(family int, over time.Duration) (*os.File, error) {
	options := []socket.Option{socket.Only(onlySlower(family, over))}
	if family == unix.AF_INET {
		options = append(options, socket.Int(unix.IPPROTO_IP, unix.IP_PKTINFO, 1))
	} else {
		options = append(options, socket.Int(unix.IPPROTO_IPV6, unix.IPV6_CHECKSUM, checksumAt),
			socket.Int(unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1))
	}
	return open(family, unix.SOCK_RAW, advert.Protocol, options...)
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

func readSlower(ctx context.Context, raw syscall.RawConn, deliver func(Delivered)) error {
	packet, control := make([]byte, maxPacket), make([]byte, 128)
	for ctx.Err() == nil {
		n, controls, from, err := receive(raw, packet, control)
		if err != nil {
			return err
		}
		index, to := socket.Arrival(control[:controls])
		a, ok := readDelivered(packet[:n], socket.From(from), to)
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

// linkName finds the name of one link, as a node has a link for each of its pods. It is empty for a
// link that has gone.
func linkName(raw syscall.RawConn, index int) string {
	request, err := unix.NewIfreq("")
	if err != nil {
		return ""
	}
	request.SetUint32(uint32(index))
	var failed error
	err = raw.Control(
		func(fd uintptr) { failed = unix.IoctlIfreq(int(fd), unix.SIOCGIFNAME, request) })
	if err != nil || failed != nil {
		return ""
	}
	return request.Name()
}

// readDelivered reads what a raw socket received; ok is false for what no router would accept.
func readDelivered(packet []byte, from, to netip.Addr) (a advert.Advert, ok bool) {
	var err error
	if from.Is6() {
		a, err = advert.ReadDelivered(from, packet)
		a.To = to
	} else {
		a, err = advert.Read(packet)
	}
	return a, err == nil && a.Accepted(false) // the host's packet filter checks IPv6's hop limit
}
