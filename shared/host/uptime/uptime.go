// Package uptime has a clock that no program sets, and that all programs of a host share.
package uptime

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Now is how long the kernel has run, with the time in which the host slept (CLOCK_BOOTTIME,
// clock_gettime(2)).
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic(fmt.Sprintf("uptime: each kernel since 2.6.39 has this clock: %v", err))
	}
	return time.Duration(t.Nano())
}
