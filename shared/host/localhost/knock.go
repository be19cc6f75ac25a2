package localhost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Knocker dials for who asks again and again, also for a server that is not there. Where nobody listened the last time it looks first whether somebody
// does now, by what the kernel says at once: a tenth of what a connection costs that is refused. Its zero value has dialled nobody; it may be used by
// anybody.
type Knocker struct {
	mu      sync.Mutex
	refused map[string]error // by address
}

// Dial connects as the function of that name does.
func (k *Knocker) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	k.mu.Lock()
	last := k.refused[address]
	k.mu.Unlock()
	if last != nil && closed(address) {
		return nil, last
	}
	conn, err := Dial(ctx, network, address)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.refused, address)
	if errors.Is(err, syscall.ECONNREFUSED) {
		if k.refused == nil {
			k.refused = map[string]error{}
		}
		k.refused[address] = err
	}
	return conn, err
}

// closed says whether both loopback addresses refuse connections to a port. It is false for whatever is not clear at once.
func closed(address string) bool {
	host, text, err := net.SplitHostPort(address)
	if err != nil || !loopback(host) {
		return false
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return false
	}
	return refuses(unix.AF_INET, &unix.SockaddrInet4{Port: int(port), Addr: netip.AddrFrom4([4]byte{127, 0, 0, 1}).As4()}) &&
		refuses(unix.AF_INET6, &unix.SockaddrInet6{Port: int(port), Addr: netip.IPv6Loopback().As16()})
}

// refuses asks one address. On the loopback the answer is there before the question returns. A family that the machine does not have refuses too.
func refuses(family int, to unix.Sockaddr) bool {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return errors.Is(err, unix.EAFNOSUPPORT)
	}
	defer unix.Close(fd)
	err = unix.Connect(fd, to)
	if errors.Is(err, unix.EINPROGRESS) {
		said, errSaid := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err = errSaid; said != 0 {
			err = fmt.Errorf("connect: %w", syscall.Errno(said))
		}
	}
	return errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.EADDRNOTAVAIL)
}
