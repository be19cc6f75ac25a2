package overhear

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
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

// Slower calls receive for every advert of version 3 that the kernel delivers to this host, past its
// packet filter, if the advert's interval is longer than over. It calls from one goroutine at a time,
// until ctx ends. It returns an error when it cannot begin, or receives nothing any more.
//
// It needs the capability NET_RAW. The kernel compares the interval, so that other adverts cost
// nothing; and while it runs this host is one that accepts VRRP, as with keepalived.
func Slower(ctx context.Context, over time.Duration, receive func(advert.Advert)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var turn sync.Mutex
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
			end(readSlower(ctx, socket, func(a advert.Advert) {
				turn.Lock()
				defer turn.Unlock()
				if a.Interval > over { // what came before the filter was set is read too
					receive(a)
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

// listenSlower opens a raw socket of VRRP.
func listenSlower(family int, over time.Duration) (*os.File, error) {
	fd, err := unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, advert.Protocol)
	if errors.Is(err, unix.EPERM) {
		return nil, fmt.Errorf("%w: it takes the capability NET_RAW", err)
	}
	if err != nil {
		return nil, err
	}
	filter := onlySlower(family, over)
	err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
	if err == nil && family == unix.AF_INET6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_CHECKSUM, checksumAt)
	}
	if err != nil {
		_ = unix.Close(fd) // nothing was done by it
		return nil, err
	}
	return os.NewFile(uintptr(fd), "VRRP"), nil
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
		{Code: unix.BPF_RET | unix.BPF_K, K: mostAdvert},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
}

// readSlower reads until the socket is closed or fails.
func readSlower(ctx context.Context, socket *os.File, receive func(advert.Advert)) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	packet := make([]byte, mostAdvert)
	for ctx.Err() == nil {
		var n int
		var from unix.Sockaddr
		var failed error
		err := raw.Read(func(fd uintptr) bool {
			n, from, failed = unix.Recvfrom(int(fd), packet, 0)
			return !errors.Is(failed, unix.EAGAIN) && !errors.Is(failed, unix.EINTR)
		})
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		if a, ok := readDelivered(packet[:n], from); ok {
			receive(a)
		}
		select {
		case <-ctx.Done():
		case <-time.After(slowerPause):
		}
	}
	return nil
}

// readDelivered reads what a raw socket received; ok is false for what no router would accept.
func readDelivered(packet []byte, from unix.Sockaddr) (a advert.Advert, ok bool) {
	var err error
	if six, is := from.(*unix.SockaddrInet6); is {
		a, err = advert.ReadDelivered(netip.AddrFrom16(six.Addr), packet)
	} else {
		a, err = advert.Read(packet)
	}
	return a, err == nil && a.Heeded(false) // the host's packet filter has seen to IPv6's hop limit
}
