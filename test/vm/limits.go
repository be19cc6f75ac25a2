package vm

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// limits is a containers.conf with limits that this machine may set.
func limits(cgroupManager string) []byte {
	files, processes := hard(unix.RLIMIT_NOFILE, 20000), hard(unix.RLIMIT_NPROC, 32768)
	return fmt.Appendf(nil, containersConf, files, files, processes, processes, cgroupManager)
}

// hard is the hard limit of a resource, at most most.
func hard(resource int, most uint64) uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(resource, &l); err != nil {
		return most
	}
	return min(l.Max, most)
}
