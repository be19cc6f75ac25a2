package localhost

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Dialer dials again and again, also to a server that does not listen. After a refusal it first
// checks whether a process listens now by a non-blocking connect, which costs a tenth of a refused
// connection. The zero value can be used, from several goroutines too.
type Dialer struct {
	// Rest is how long a refusal is returned again without another attempt, for a server that
	// nothing waits for.
	Rest time.Duration

	mu      sync.Mutex
	refused map[string]refusal // by address
}

type refusal struct {
	err error     // nil for none
	at  time.Time // of the last attempt
}

// Dial is the function Dial.
func (k *Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	k.mu.Lock()
	last := k.refused[address]
	k.mu.Unlock()
	if last.err != nil && time.Since(last.at) < k.Rest {
		return nil, last.err
	}
	if last.err != nil && isClosed(address) {
		k.record(address, last.err)
		return nil, last.err
	}
	conn, err := Dial(ctx, network, address)
	if errors.Is(err, syscall.ECONNREFUSED) {
		k.record(address, err)
	} else {
		k.record(address, nil)
	}
	return conn, err
}

func (k *Dialer) record(address string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refused == nil {
		k.refused = map[string]refusal{}
	}
	k.refused[address] = refusal{err, time.Now()}
}

// isClosed is Closed for an address of the local host; false for another host.
func isClosed(address string) bool {
	host, text, err := net.SplitHostPort(address)
	if err != nil || !isLoopback(host) {
		return false
	}
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && Closed(uint16(port))
}

// Closed reports whether no process listens at a TCP port of this host: both loopback addresses
// refuse a connection, or there is no IPv6. It is false if that is not known at once: the host may
// have no socket left for the question. A server that listens gets a connection that ends at once.
func Closed(port uint16) bool {
	four := &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}
	if !errors.Is(connect(unix.AF_INET, four), unix.ECONNREFUSED) {
		return false
	}
	six := &unix.SockaddrInet6{Port: int(port), Addr: netip.IPv6Loopback().As16()}
	err := connect(unix.AF_INET6, six)
	return errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.EADDRNOTAVAIL) ||
		errors.Is(err, unix.EAFNOSUPPORT)
}

// connect asks for a connection. On the loopback interface the result is known when it returns.
func connect(family int, to unix.Sockaddr) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	err = unix.Connect(fd, to)
	if errors.Is(err, unix.EINPROGRESS) {
		var number int
		number, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if number != 0 {
			err = syscall.Errno(number)
		}
	}
	return err
}
