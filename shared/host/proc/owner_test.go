package proc

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestOwners holds that a socket's process is found by its inode, with its parent.
func TestOwners(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseUint(strings.Trim(target, "socket:[]"), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	inode := uint32(number)
	all := Owners([]uint32{inode, 1})
	if len(all) != 1 || len(all[inode]) != 1 {
		t.Fatalf("%+v", all)
	}
	o := all[inode][0]
	if o.PID != os.Getpid() || o.Name != name(os.Getpid()) || o.Name == "" || o.Parent != name(os.Getppid()) || o.Parent == "" {
		t.Errorf("%+v", o)
	}
	if want := fmt.Sprintf("%s (process %d)", o.Name, o.PID); o.String() != want {
		t.Errorf("%s, want %s", o, want)
	}
}
