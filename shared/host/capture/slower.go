package capture

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/host/socket"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// centisecond is the unit of an interval in version 3.
const centisecond = 10 * time.Millisecond

// checksumAt is where the checksum stands in an advert.
const checksumAt = 6

// A flood does not occupy Slower: it pauses after each advert that counts, and after slowerMost
// others, 6,400 a second. The kernel queues those that arrive during a pause.
const (
	slowerPause = 10 * time.Millisecond
	slowerMost  = 64
)

// Delivered is an advert that the kernel delivered to this host.
type Delivered struct {
	advert.Advert
	Link string // that it came by
}

// Slower calls deliver for every advert of version 3 with one of these IDs that the kernel delivers
// to this host, past its packet filter, if the advert's interval is longer than over. It calls it
// from a goroutine for each family, until ctx ends. It returns an error when it cannot begin, or
// receives nothing any more. deliver reports whether the advert counts.
//
// It needs the capability NET_RAW. The kernel compares the ID and the interval, so that other
// adverts cost nothing; and while it runs this host is one that accepts VRRP, as with keepalived.
func Slower(ctx context.Context, over time.Duration, ids []vrrp.ID,
	deliver func(Delivered) (counts bool)) error {
	var sockets []*os.File
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		socket, err := listenSlower(family, onlySlower(family, over, ids))
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
	longer := func(d Delivered) bool {
		// What came before the filter was set is read too.
		return d.Interval > over && slices.Contains(ids, d.ID) && deliver(d)
	}
	err := read(ctx, sockets, func(ctx context.Context, raw syscall.RawConn) error {
		return readSlower(ctx, raw, longer)
	})
	if err != nil {
		return fmt.Errorf("listen for slow adverts: %w", err)
	}
	return nil
}

// listenSlower opens a raw socket of VRRP. The kernel reports each packet's link and destination.
func listenSlower(family int, filter []unix.SockFilter) (*os.File, error) {
	options := []socket.Option{socket.Only(filter)}
	if family == unix.AF_INET {
		options = append(options, socket.Int(unix.IPPROTO_IP, unix.IP_PKTINFO, 1))
	} else {
		options = append(options, socket.Int(unix.IPPROTO_IPV6, unix.IPV6_CHECKSUM, checksumAt),
			socket.Int(unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1))
	}
	return open(family, unix.SOCK_RAW, advert.Protocol, options...)
}

// onlySlower lets adverts of version 3 through that have one of the IDs, of which there are few,
// and an interval longer than over. A raw socket of IPv4 sees the packet from IP's header on, one
// of IPv6 from the advert on.
func onlySlower(family int, over time.Duration, ids []vrrp.ID) []unix.SockFilter {
	begin := unix.SockFilter{Code: unix.BPF_LDX | unix.BPF_IMM, K: 0}
	if family == unix.AF_INET {
		begin = unix.SockFilter{Code: unix.BPF_LDX | unix.BPF_B | unix.BPF_MSH, K: 0}
	}
	const versionAndType, idAt, intervalAt, intervalMask = 0x31, 1, 4, 0xfff
	const equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	const last = 4 // statements between the IDs and the refusal
	filter := []unix.SockFilter{
		begin,
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_IND, K: 0},
		{Code: equal, K: versionAndType, Jf: uint8(len(ids)) + 1 + last},
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_IND, K: idAt},
	}
	for i, id := range ids {
		more := uint8(len(ids) - 1 - i)
		jump := unix.SockFilter{Code: equal, K: uint32(id), Jt: more}
		if more == 0 {
			jump.Jf = last
		}
		filter = append(filter, jump)
	}
	return append(filter, []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_IND, K: intervalAt},
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: intervalMask},
		{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, K: uint32(over / centisecond), Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: maxPacket},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}...)
}

func readSlower(ctx context.Context, raw syscall.RawConn, deliver func(Delivered) bool) error {
	packet, control := make([]byte, maxPacket), make([]byte, 128)
	for others := 0; ctx.Err() == nil; {
		n, controls, from, err := receive(raw, packet, control)
		if err != nil {
			return err
		}
		index, to := socket.Arrival(control[:controls])
		a, ok := readDelivered(packet[:n], socket.From(from), to)
		counts := false
		if link := linkName(raw, index); ok && link != "" {
			counts = deliver(Delivered{Advert: a, Link: link})
		}
		if others++; !counts && others < slowerMost {
			continue
		}
		others = 0
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
