package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockAgain is the time between two attempts to lock: the system call cannot be ended while it
// waits.
const lockAgain = 250 * time.Millisecond

// Lock waits until no other program has locked the file, which it makes if it is missing. The
// kernel unlocks it for a program that was killed. ctx ends the wait.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(lockAgain)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { f.Close() }, nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		select {
		case <-ctx.Done():
			err := fmt.Errorf("wait for the program that has locked %s: %w", path, ctx.Err())
			return nil, errors.Join(err, f.Close())
		case <-tick.C:
		}
	}
}
