package proc

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// oldKernel has a run of this test program have pidfds as Linux 5.3 has them.
const oldKernel = "ONPREM_PROC_TEST_OLD_KERNEL"

// TestOpen_OldKernel holds that processes are followed on kernels before 5.10 too, whose pidfd_open(2) refuses all flags.
// FAKE: a seccomp filter refuses them, as this machine's kernel has them.
func TestOpen_OldKernel(t *testing.T) {
	if os.Getenv(oldKernel) == "" {
		again := exec.Command(os.Args[0], "-test.run=^(TestOpen_OldKernel|TestWaitSeesTheEnd|TestWaitEndsWithItsContext)$")
		again.Env = append(os.Environ(), oldKernel+"=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if fd, err := unix.PidfdOpen(os.Getpid(), unix.PIDFD_NONBLOCK); err != unix.EINVAL {
		t.Errorf("the kernel has flags: %d, %v", fd, err)
	}
	if _, err := Open(os.Getpid()); err != nil {
		t.Error(err)
	}
}

func init() {
	if os.Getenv(oldKernel) == "" {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const number, flags = 0, 24 // in seccomp_data, on a little-endian machine
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	filter := []unix.SockFilter{
		load(number),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_PIDFD_OPEN, Jf: 3},
		load(flags),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(program))); err != 0 {
		panic(err)
	}
}
