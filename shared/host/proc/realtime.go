package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// modest is the real-time priority, of 1 to 99: above processes that are not real-time and those
// with the lowest priorities.
const modest = 10

// RealTime schedules the process before all that are not real-time, round robin with those of its
// priority (SCHED_RR, sched(7)). Its children are not real-time. The error is os.ErrProcessDone
// when it has ended. The kernel refuses it without the capability SYS_NICE, and, where it gives
// real-time shares to control groups, in a group without one.
func (p *Process) RealTime() error {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: modest,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK}
	if err := unix.SchedSetAttr(p.PID, &attr, 0); err != nil {
		return fmt.Errorf("make process %d real-time: %w", p.PID, done(err))
	}
	return nil
}
