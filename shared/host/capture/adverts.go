// Package capture receives the VRRP adverts that reach a link of this host, and sends none.
package capture

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/host/socket"
)

// Received is an advert that was received on a link.
type Received struct {
	advert.Advert
	At  time.Time        // when it arrived
	MAC net.HardwareAddr // of the sender on the link; empty if the link has none
}

// A flood on the link is read no faster than this. Some twenty routers with ten adverts a second
// stay below it.
const (
	maxBurst = 100
	burst    = 100 * time.Millisecond
)

// Adverts calls receive for every VRRP advert that reaches this host on a link, of both versions
// and both families, until ctx ends. It joins VRRP's multicast groups on the link, so that switches
// which snoop memberships forward the adverts. Several goroutines call receive, one at a time.
// Packets that are no whole adverts are left out.
//
// It receives adverts to the groups and to this host, but none that this host sends. Unicast
// adverts to other hosts arrive only if a switch floods them. It receives before any packet filter.
//
// It needs the capability NET_RAW when it starts. The kernel passes it VRRP only: the filter is set
// before the socket receives any packet, and cannot be removed. Other traffic of the link costs the
// few instructions of that filter.
//
// It returns an error if it cannot start, or fails later, as when the link has gone; nil only when
// ctx ends.
func Adverts(ctx context.Context, link string, receive func(Received)) error {
	if err := adverts(ctx, link, oneAtATime(receive)); err != nil {
		return fmt.Errorf("listen for VRRP on %s: %w", link, err)
	}
	return nil
}

func adverts(ctx context.Context, link string, receive func(Received)) error {
	on, err := net.InterfaceByName(link)
	if err != nil {
		return err
	}
	var sockets []*os.File
	for _, f := range vrrpFamilies {
		socket, err := f.listen(on.Index)
		if err != nil {
			closeAll(sockets)
			return err
		}
		sockets = append(sockets, socket)
		if member, err := f.join(on.Index); err == nil {
			defer member.Close()
		} // else the link does not have the family; unicast adverts still arrive
	}
	return read(ctx, sockets, func(ctx context.Context, raw syscall.RawConn) error {
		return readAdverts(ctx, raw, receive)
	})
}

// vrrpFamily is how to listen for VRRP in a family of IP.
type vrrpFamily struct {
	family   int
	ethernet uint16            // its type of frame
	only     []unix.SockFilter // passes VRRP, from IP's header on
	group    netip.Addr
}

var vrrpFamilies = []vrrpFamily{
	{unix.AF_INET, unix.ETH_P_IP, onlyVRRP(9), advert.GroupIPv4()},
	{unix.AF_INET6, unix.ETH_P_IPV6, onlyVRRP(6), advert.GroupIPv6()},
}

// onlyVRRP passes packets that have VRRP's protocol at an offset of IP's header.
func onlyVRRP(at uint32) []unix.SockFilter {
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: at},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: advert.Protocol, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: maxPacket},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
}

// listen opens a socket that receives nothing until it is bound, after its filter is set.
func (f vrrpFamily) listen(index int) (*os.File, error) {
	return open(unix.AF_PACKET, unix.SOCK_DGRAM, 0,
		socket.Int(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1), socket.Only(f.only),
		socket.Bind(socket.Frames(f.ethernet, index)))
}

// join makes this host a member of the family's group while the socket is open.
func (f vrrpFamily) join(index int) (*os.File, error) {
	return open(f.family, unix.SOCK_DGRAM, 0, socket.Member(f.group, index))
}

func readAdverts(ctx context.Context, raw syscall.RawConn, received func(Received)) error {
	packet, control := make([]byte, maxPacket), make([]byte, unix.CmsgSpace(socket.StampSize))
	begin, read := time.Now(), 0
	for {
		if read++; read > maxBurst { // the kernel's queue overflows meanwhile
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(burst - time.Since(begin)):
			}
		}
		if time.Since(begin) >= burst {
			begin, read = time.Now(), 0
		}
		n, controls, from, err := receive(raw, packet, control)
		if err != nil {
			return err
		}
		a, err := advert.Read(packet[:n])
		sender, ok := from.(*unix.SockaddrLinklayer)
		if err != nil || !ok || sender.Pkttype == unix.PACKET_OTHERHOST && a.To.IsMulticast() {
			// multicast to another host is of another VLAN: keepalived does not receive it either
			continue
		}
		mac := slices.Clone(sender.Addr[:min(int(sender.Halen), len(sender.Addr))])
		at := arrived(control[:controls], time.Now())
		received(Received{Advert: a, At: at, MAC: mac})
	}
}

// longest is how long a packet may have waited for this program; the clock was set if it is more.
const longest = 10 * time.Second

// arrived is when the kernel received a packet, as a time that no step of the clock changes. A
// program that is not real-time may read a packet much later on a busy machine.
func arrived(control []byte, now time.Time) time.Time {
	at, ok := socket.Stamp(control)
	if waited := now.Sub(at); ok && waited > 0 && waited < longest {
		return now.Add(-waited)
	}
	return now
}
