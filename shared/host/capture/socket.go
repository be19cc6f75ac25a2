package capture

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/socket"
)

// maxPacket is the longest packet that is read whole: that of Ethernet.
const maxPacket = 1500

func open(family, kind, protocol int, options ...socket.Option) (*os.File, error) {
	fd, err := socket.Open(family, kind, protocol, options...)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "VRRP"), nil
}

// read reads from each socket in a goroutine of its own until ctx ends, or one of them fails. It
// closes the sockets.
func read(
	ctx context.Context, sockets []*os.File, one func(context.Context, syscall.RawConn) error,
) error {
	all, end := context.WithCancelCause(ctx)
	defer end(nil)
	var readers sync.WaitGroup
	for _, s := range sockets {
		readers.Go(func() {
			raw, err := s.SyscallConn()
			if err == nil {
				err = one(all, raw)
			}
			end(err)
		})
	}
	<-all.Done()
	closeAll(sockets)
	readers.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(all)
}

func closeAll(sockets []*os.File) {
	for _, s := range sockets {
		_ = s.Close() // nothing was written
	}
}

// oneAtATime is a function that several goroutines may call.
func oneAtATime[T any](receive func(T)) func(T) {
	var mu sync.Mutex
	return func(t T) {
		mu.Lock()
		defer mu.Unlock()
		receive(t)
	}
}

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
