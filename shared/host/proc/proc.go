// Package proc holds processes by a pidfd or as their parent, so that a process which got a
// recycled number is never signalled.
package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Process is one process, for as long as it lives and after. Close it after use.
type Process struct {
	PID int
	fd  *os.File
}

// Open finds the process with a PID of this process namespace. The error is os.ErrProcessDone when
// there is none. The number may have been recycled before Open: a caller that needs certainty
// checks the process that it opened before signalling it.
func Open(pid int) (*Process, error) {
	fd, err := unix.PidfdOpen(pid, 0) // kernels before 5.10 have no flags
	if err != nil {
		return nil, fmt.Errorf("open process %d: %w", pid, done(err))
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(fmt.Errorf("open process %d: %w", pid, err), unix.Close(fd))
	}
	return &Process{PID: pid, fd: os.NewFile(uintptr(fd), fmt.Sprintf("pidfd %d", pid))}, nil
}

// Signal sends a signal. The error is os.ErrProcessDone when the process has been reaped.
func (p *Process) Signal(sig unix.Signal) error {
	var sent error
	conn, err := p.fd.SyscallConn()
	if err == nil {
		err = conn.Control(func(fd uintptr) {
			sent = unix.PidfdSendSignal(int(fd), sig, nil, 0)
		})
	}
	if err != nil {
		return fmt.Errorf("signal process %d: %w", p.PID, err)
	}
	if sent != nil {
		return fmt.Errorf("send %s to process %d: %w", unix.SignalName(sig), p.PID, done(sent))
	}
	return nil
}

// done is os.ErrProcessDone for the kernel's error that there is no such process.
func done(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// Wait returns nil once the process has ended, also when it is not a child and has not been reaped
// yet, or ctx's error. One Wait at a time.
func (p *Process) Wait(ctx context.Context) error {
	conn, err := p.fd.SyscallConn()
	if err != nil {
		return fmt.Errorf("wait for process %d: %w", p.PID, err)
	}
	stop := context.AfterFunc(ctx, func() { p.fd.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var polled error
	err = conn.Read(func(fd uintptr) bool {
		var ended bool
		ended, polled = readable(fd)
		return ended || polled != nil
	})
	if ctx.Err() != nil {
		p.fd.SetReadDeadline(time.Time{})
		return ctx.Err()
	}
	if err := errors.Join(err, polled); err != nil {
		return fmt.Errorf("wait for process %d: %w", p.PID, err)
	}
	return nil
}

// readable reports whether a pidfd's process has ended.
func readable(fd uintptr) (bool, error) {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(poll, 0)
		if !errors.Is(err, unix.EINTR) {
			return n > 0, err
		}
	}
}

// Of reports whether the process is in the control group of the container with this ID: podman puts
// the processes of each container into one that is named after it. The error is os.ErrProcessDone
// when the process has been reaped.
func (p *Process) Of(container string) (bool, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", p.PID))
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ESRCH) {
		return false, fmt.Errorf("read the control group of process %d: %w", p.PID, err)
	}
	if err := p.Signal(0); err != nil { // the number was its own when it was read, if it still is
		return false, err
	}
	return strings.Contains(string(text), container), nil
}

// CPU is the processor time that the process has used. Its resolution is so fine that it stays
// the same only while the process does not run at all.
func (p *Process) CPU() (time.Duration, error) {
	// clock_getcpuclockid(3) makes this number: another process's clock, counted by the scheduler.
	clock := int32(^p.PID<<3 | 2)
	var used unix.Timespec
	if err := unix.ClockGettime(clock, &used); err != nil {
		return 0, fmt.Errorf("read the processor time of process %d: %w", p.PID, err)
	}
	return time.Duration(used.Nano()), nil
}

// Tracer is the process that traces this one, as a debugger does, and 0 when there is none.
func (p *Process) Tracer() (pid int, err error) {
	text, err := status(p.PID, "TracerPid")
	if err == nil {
		pid, err = strconv.Atoi(text)
	}
	if err != nil {
		return 0, fmt.Errorf("read the tracer of process %d: %w", p.PID, err)
	}
	return pid, nil
}

// status is a line of a process's status (proc_pid_status(5)); empty if there is none of that name.
func status(pid int, name string) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, line, _ := strings.Cut(string(text), "\n"+name+":")
	line, _, _ = strings.Cut(line, "\n")
	return strings.TrimSpace(line), err
}

// Children are the processes that a process of one thread has started and that have not been
// reaped.
func Children(pid int) (all []int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	for word := range strings.FieldsSeq(string(text)) {
		var child int
		if child, err = strconv.Atoi(word); err != nil {
			break
		}
		all = append(all, child)
	}
	if err != nil {
		return nil, fmt.Errorf("list the children of process %d: %w", pid, err)
	}
	return all, nil
}

// Close releases the pidfd and leaves the process alone.
func (p *Process) Close() error { return p.fd.Close() }

// modest is the real-time priority, of 1 to 99: above processes that are not real-time and those
// with the lowest priorities.
const modest = 10

// RealTime schedules the process before all that are not real-time, round robin with those of its
// priority (SCHED_RR, sched(7)). Its children are not real-time. The error is os.ErrProcessDone
// when it has ended. The kernel refuses it without the capability SYS_NICE, and, where it gives
// real-time shares to control groups, in a group without one.
func (p *Process) RealTime() error {
	if err := RealTime(p.PID); err != nil {
		return fmt.Errorf("make process %d real-time: %w", p.PID, done(err))
	}
	return nil
}

// RealTime does the same with a thread of this program, by its number; 0 is the caller's.
func RealTime(thread int) error {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: modest,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK}
	return unix.SchedSetAttr(thread, &attr, 0)
}
