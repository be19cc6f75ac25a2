package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// boot starts systemd as PID 1 on $R, inside the network $NET and with control groups of its own.
// nspawn wants to write to /run/systemd, which belongs to this machine's systemd where there is
// one. Only the network part of /proc/sys may be written to inside: the rest is this machine's own.
// So is the kernel: the machine may load no module, or systemd 255 and later try to, and have a
// failed unit for want of the library. PID 1 begins without inheritable capabilities, as a kernel
// starts it and nspawn does not: from systemd 255 on services inherit them.
const boot = `
for tree in $TREES; do echo $$ >"$tree/$NAME/cgroup.procs"; done
mkdir -p /run/systemd
mount -t tmpfs tmpfs /run/systemd
export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 SYSTEMD_NSPAWN_API_VFS_WRITABLE=network
exec systemd-nspawn --quiet --directory="$R" --register=no --keep-unit --network-namespace-path="$NET" --machine="$HOST" \
	--console=pipe --resolv-conf=off --timezone=off --link-journal=no --bind="$DIR/containers:/var/lib/containers" \
	--capability=all --drop-capability=CAP_SYS_MODULE --system-call-filter=add_key --system-call-filter=keyctl --system-call-filter=bpf \
	setpriv --inh-caps=-all /lib/systemd/systemd
`

// Running is a machine that has been booted.
type Running struct {
	*Machine
	nspawn *exec.Cmd
	leader int           // PID 1 of the machine, as this machine numbers it
	done   chan struct{} // closed when nspawn has ended
	err    error         // how, once it has
}

// Boot boots the machine, connected as host. It returns as soon as commands can be run
// inside; units may still be starting.
func (m *Machine) Boot(ctx context.Context, host *lab.Host) (*Running, error) {
	// A machine that lost its power has left control groups, which no kernel has at its start.
	if err := errors.Join(removeGroups(m.name), makeGroups(m.name)); err != nil {
		return nil, fmt.Errorf("make control groups: %w", err)
	}
	console, err := os.Create(filepath.Join(m.dir, "console.log"))
	if err != nil {
		return nil, err
	}
	defer console.Close()
	// The machine ends by Halt, not with a context.
	cmd := m.step(context.WithoutCancel(ctx), boot, "NET="+host.Path(), "HOST="+host.Name, "TREES="+strings.Join(groupTrees(), " "))
	cmd.Stdout, cmd.Stderr = console, console
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &Running{Machine: m, nspawn: cmd, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = cmd.Wait()
	}()
	if err := r.awaitInit(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("boot: %w\n%s", err, r.Console()), r.Halt(context.WithoutCancel(ctx)))
	}
	return r, nil
}

// awaitInit waits until systemd inside answers.
func (r *Running) awaitInit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.done:
			return fmt.Errorf("nspawn ended: %v", r.err)
		case <-ctx.Done():
			return fmt.Errorf("wait for systemd: %w", ctx.Err())
		case <-tick.C:
		}
		if r.leader = r.findLeader(); r.leader == 0 {
			continue
		}
		// Anything but a refused connection is an answer: "starting" exits with an error too.
		if out, _ := r.Command(ctx, "systemctl", "is-system-running").Output(); len(out) > 0 && string(out) != "offline\n" && string(out) != "unknown\n" {
			return nil
		}
	}
}

// findLeader is the child of nspawn that has become systemd, 0 if there is none yet.
func (r *Running) findLeader() int {
	pid := r.nspawn.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0
	}
	for _, child := range strings.Fields(string(children)) {
		comm, err := os.ReadFile("/proc/" + child + "/comm")
		if n, errAtoi := strconv.Atoi(child); err == nil && errAtoi == nil && string(comm) == "systemd\n" {
			return n
		}
	}
	return 0
}

// Command prepares a command inside the machine. Its environment is empty but for PATH and HOME.
func (r *Running) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	enter := []string{"-t", strconv.Itoa(r.leader), "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w", "--",
		"env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", name}
	cmd := exec.CommandContext(ctx, "nsenter", append(enter, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// Run runs a command inside and returns its standard output. The error has its output.
func (r *Running) Run(ctx context.Context, name string, args ...string) (string, error) {
	var stderr strings.Builder
	cmd := r.Command(ctx, name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w: %s%s", name, strings.Join(args, " "), err, tail(out), tail([]byte(stderr.String())))
	}
	return string(out), nil
}

// Console is the end of what the machine printed.
func (r *Running) Console() string {
	out, err := os.ReadFile(filepath.Join(r.dir, "console.log"))
	if err != nil {
		return err.Error()
	}
	return string(tail(out))
}

// Halt shuts the machine down in order, or kills it when that takes too long: podman's
// clean-up after a container hangs now and then when the storage is unmounted under it. A second
// call does nothing.
func (r *Running) Halt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	select {
	case <-r.done:
		return nil
	default:
	}
	if r.leader != 0 {
		// systemd(1): SIGRTMIN+4 powers the machine off.
		if err := unix.Kill(r.leader, unix.Signal(sigRTMin+4)); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		r.Off()
	}
	return nil
}

// sigRTMin is the first real-time signal that the C library leaves to programs.
const sigRTMin = 34

// Off is a loss of power: every process of the machine is killed at once, without a packet to the
// network. The caller removes the addresses in the network.
func (r *Running) Off() {
	if r.leader != 0 {
		_ = unix.Kill(r.leader, unix.SIGKILL)
	}
	_ = r.nspawn.Process.Kill()
	<-r.done
}
