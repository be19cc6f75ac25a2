package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
)

// grace is how long a daemon of an earlier run may take to end after SIGTERM.
const grace = 5 * time.Second

// EndOrphans ends the daemons of an earlier run that was killed, and names them. BGP's is the first
// one: it ends its sessions in order then. The file of a daemon's number may be old, and the number
// another process's: that is left alone.
func (l *Launcher) EndOrphans(ctx context.Context) (ended []string, err error) {
	var wrong []error
	for _, name := range slices.Backward(frr.Daemons()) {
		pid, err := l.endOrphan(ctx, name)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("end %s of an earlier run: %w", name, err))
		} else if pid != 0 {
			ended = append(ended, fmt.Sprintf("%s (process %d)", name, pid))
		}
	}
	return ended, errors.Join(wrong...)
}

// endOrphan returns the number of the process that it ended; 0 for none.
func (l *Launcher) endOrphan(ctx context.Context, name frr.Daemon) (int, error) {
	text, err := os.ReadFile(pidFile(l.Sockets, name))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return 0, nil // the daemon ended before it had written it
	}
	p, err := proc.Open(pid)
	if errors.Is(err, os.ErrProcessDone) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	defer p.Close()
	// The number cannot become another's unnoticed from here on.
	if ours, err := l.ours(pid, name); err != nil || !ours {
		return 0, err
	}
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGKILL} {
		if err := p.Signal(sig); errors.Is(err, os.ErrProcessDone) {
			return pid, nil
		} else if err != nil {
			return 0, err
		}
		patient, cancel := context.WithTimeout(ctx, grace)
		err = p.Wait(patient)
		cancel()
		if err == nil {
			return pid, nil
		}
	}
	return 0, err
}

// ours reports whether a process is FRR's daemon with our sockets, whatever its other flags: an
// earlier release may have written others.
func (l *Launcher) ours(pid int, name frr.Daemon) (bool, error) {
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return false, nil // it has ended
	}
	if uid := int(info.Sys().(*syscall.Stat_t).Uid); uid != l.uid && uid != 0 {
		return false, nil
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ESRCH) {
		return false, err
	}
	words := strings.Split(string(bytes.TrimSuffix(text, []byte{0})), "\x00")
	at := slices.Index(words, "--vty_socket")
	return filepath.Base(words[0]) == string(name) && at >= 0 && at+1 < len(words) &&
		filepath.Clean(words[at+1]) == filepath.Clean(l.Sockets), nil
}
