package capture

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// open opens a socket with a filter that cannot be removed. prepare runs after the filter is set.
func open(
	family, kind, protocol int, only []unix.SockFilter, prepare func(fd int) error,
) (*os.File, error) {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if errors.Is(err, unix.EPERM) {
		return nil, fmt.Errorf("%w: it takes the capability NET_RAW", err)
	}
	if err != nil {
		return nil, err
	}
	err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(only)), Filter: &only[0]})
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_LOCK_FILTER, 1)
	}
	if err == nil {
		err = prepare(fd)
	}
	if err != nil {
		_ = unix.Close(fd) // nothing was written
		return nil, err
	}
	return os.NewFile(uintptr(fd), "VRRP"), nil
}

// receive waits for a packet, and reads it with its control messages.
func receive(
	raw syscall.RawConn, packet, control []byte,
) (n, controls int, from unix.Sockaddr, err error) {
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		n, controls, _, from, failed = unix.Recvmsg(int(fd), packet, control, 0)
		return !errors.Is(failed, unix.EAGAIN) && !errors.Is(failed, unix.EINTR)
	})
	return n, controls, from, errors.Join(err, failed)
}
