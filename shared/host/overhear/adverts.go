// Package overhear hears the VRRP adverts that reach a link of this host, whoever they are for, and
// sends nothing.
package overhear

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/advert"
)

// Heard is an advert that came by a link.
type Heard struct {
	advert.Advert
	At  time.Time        // when it was read
	MAC net.HardwareAddr // of the host that put it onto the link; empty where the link has none
}

// Whoever floods the link is heard no more often than this: some twenty routers that announce
// themselves ten times a second stay below it.
const (
	mostAtOnce = 100
	atOnce     = 100 * time.Millisecond
)

// mostAdvert is the longest packet that is read whole: the longest advert has 255 addresses, which
// no Ethernet carries.
const mostAdvert = 1500

// Adverts tells hear of every VRRP advert that reaches this host by a link, of both versions and
// both families, until ctx ends. It sends nothing of VRRP's, but makes this host a member of VRRP's
// groups on the link, so that switches which keep account of members pass the adverts on. hear is
// called by several goroutines, one at a time; packets that are no whole adverts are left out.
//
// It hears what is sent to the groups, and to this host. What others send to each other alone does
// not reach this host unless a switch floods it. What this host itself sends is not heard. What
// comes is seen before any packet filter of the host.
//
// It needs the capability NET_RAW, for the moment in which it begins. The kernel hands it VRRP and
// nothing else: the filter is set before the socket sees any packet, and cannot be taken off. All
// other traffic of the link costs the few instructions of that filter.
//
// It returns an error when it cannot begin, or does not hear any more, as when the link has gone; a
// nil error only when ctx ends.
func Adverts(ctx context.Context, link string, hear func(Heard)) error {
	on, err := net.InterfaceByName(link)
	if err != nil {
		return fmt.Errorf("listen for VRRP on %s: %w", link, err)
	}
	asked := ctx
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var readers sync.WaitGroup
	defer readers.Wait()
	var turn sync.Mutex
	for _, f := range vrrpFamilies {
		socket, err := f.listen(on.Index)
		if err != nil {
			end(nil)
			return fmt.Errorf("listen for VRRP on %s: %w", link, err)
		}
		defer socket.Close() // nothing is written, and whoever reads gets away
		readers.Go(func() {
			end(readAdverts(ctx, socket, func(h Heard) {
				turn.Lock()
				defer turn.Unlock()
				hear(h)
			}))
		})
		member, err := f.join(on.Index)
		if err != nil {
			continue // the link does not speak the family: what is sent to this host is heard all the same
		}
		defer member.Close()
	}
	<-ctx.Done()
	if asked.Err() == nil {
		return fmt.Errorf("listen for VRRP on %s: %w", link, context.Cause(ctx))
	}
	return nil
}

// vrrpFamily is how VRRP is listened for in a family of IP.
type vrrpFamily struct {
	ethernet int               // its type of frame
	only     []unix.SockFilter // lets VRRP through, seen from IP's header
	group    netip.Addr
}

var vrrpFamilies = []vrrpFamily{
	{ethernet: unix.ETH_P_IP, only: onlyVRRP(9), group: advert.GroupIPv4()},
	{ethernet: unix.ETH_P_IPV6, only: onlyVRRP(6), group: advert.GroupIPv6()},
}

// onlyVRRP lets packets through that name VRRP's protocol at a place of IP's header.
func onlyVRRP(at uint32) []unix.SockFilter {
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: at},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: advert.Protocol, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: mostAdvert},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
}

// listen opens a socket that hears nothing until it is bound, and by then has its filter.
func (f vrrpFamily) listen(index int) (*os.File, error) {
	return open(unix.AF_PACKET, unix.SOCK_DGRAM, 0, f.only, func(fd int) error {
		return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: uint16(f.ethernet>>8 | f.ethernet&0xff<<8), Ifindex: index})
	})
}

// join makes this host a member of the family's group for as long as the socket lives, which needs
// no privilege.
func (f vrrpFamily) join(index int) (*os.File, error) {
	family, join := unix.AF_INET, func(fd int) error {
		return unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, &unix.IPMreqn{Multiaddr: f.group.As4(), Ifindex: int32(index)})
	}
	if f.group.Is6() {
		family, join = unix.AF_INET6, func(fd int) error {
			return unix.SetsockoptIPv6Mreq(fd, unix.IPPROTO_IPV6, unix.IPV6_JOIN_GROUP, &unix.IPv6Mreq{Multiaddr: f.group.As16(), Interface: uint32(index)})
		}
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := join(fd); err != nil {
		_ = unix.Close(fd) // nothing was done by it
		return nil, err
	}
	return os.NewFile(uintptr(fd), "member of VRRP's group"), nil
}

// readAdverts reads until the socket is closed or fails.
func readAdverts(ctx context.Context, socket *os.File, hear func(Heard)) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	packet, begin, read := make([]byte, mostAdvert), time.Now(), 0
	for {
		if read++; read > mostAtOnce { // what the kernel's queue does not hold meanwhile is lost
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(atOnce - time.Since(begin)):
			}
		}
		if time.Since(begin) >= atOnce {
			begin, read = time.Now(), 0
		}
		n, _, from, err := receive(raw, packet, nil)
		if err != nil {
			return err
		}
		a, err := advert.Read(packet[:n])
		sender, ok := from.(*unix.SockaddrLinklayer)
		if err != nil || !ok || sender.Pkttype == unix.PACKET_OTHERHOST && a.To.IsMulticast() {
			continue // what is for the group and not for this host is of a VLAN in which the host has no link: keepalived does not hear it either
		}
		hear(Heard{Advert: a, At: time.Now(), MAC: net.HardwareAddr(append([]byte(nil), sender.Addr[:min(int(sender.Halen), len(sender.Addr))]...))})
	}
}
