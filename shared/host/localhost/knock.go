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
	"time"

	"golang.org/x/sys/unix"
)

// Knocker dials for who asks again and again, also for a server that is not there. Where nobody
// listened the last time it looks first whether somebody does now, by what the kernel says at once:
// a tenth of what a connection costs that is refused. Its zero value has dialled nobody; it may be
// used by anybody.
type Knocker struct {
	// Rest is how long a refusal counts without another look: for a server that nobody waits for.
	Rest time.Duration

	mu      sync.Mutex
	refused map[string]refusal // by address
}

// refusal is that of an address.
type refusal struct {
	err error
	at  time.Time // of the last look
}

// Dial connects as the function of that name does.
func (k *Knocker) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	k.mu.Lock()
	last := k.refused[address]
	k.mu.Unlock()
	if last.err != nil && time.Since(last.at) < k.Rest {
		return nil, last.err
	}
	if last.err != nil && closed(address) {
		k.note(address, last.err)
		return nil, last.err
	}
	conn, err := Dial(ctx, network, address)
	if errors.Is(err, syscall.ECONNREFUSED) {
		k.note(address, err)
	} else {
		k.note(address, nil)
	}
	return conn, err
}

// note takes note of what became of a look.
func (k *Knocker) note(address string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refused == nil {
		k.refused = map[string]refusal{}
	}
	k.refused[address] = refusal{err, time.Now()}
}

// closed says whether both loopback addresses refuse connections to a port. It is false for
// whatever is not clear at once.
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

// refuses asks one address. On the loopback the answer is there before the question returns. A
// family that the machine does not have refuses too.
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
