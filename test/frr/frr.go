// Package frr runs FRR's daemons on hosts of a lab.
package frr

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/frr"
	host "github.com/onprem-infra/onprem-infra/shared/host/frr"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// Programs is where Debian's package has the daemons.
const Programs = "/usr/lib/frr/"

// Daemons are FRR's daemons on a host, until the end of the test.
type Daemons struct {
	Dir string // with their sockets
	t   testing.TB
}

// Start starts all daemons of FRR on a host. One that listens takes sessions that others begin, as
// a router does.
func Start(t testing.TB, on *lab.Host, listens bool) *Daemons {
	t.Helper()
	d := &Daemons{Dir: Directory(t), t: t}
	for _, name := range frr.Daemons() {
		need.File(t, Programs+string(name))
		args := []string{"-f", "/dev/null", "-P", "0", "--log", "file:" + d.Dir + "/" + string(name) + ".log",
			"--vty_socket", d.Dir, "-z", d.Dir + "/zserv", "-i", d.Dir + "/" + string(name) + ".pid"}
		switch name {
		case frr.BGP:
			port := "0"
			if listens {
				port = "179"
			}
			args = append(args, "-p", port)
		case frr.BFD:
			args = append(args, "--bfdctl", d.Dir+"/bfdctl")
		}
		ctx, cancel := context.WithCancel(context.Background())
		cmd := on.Command(ctx, Programs+string(name), args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if name == frr.BFD { // as a switch, which does this in hardware
			attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 10}
			if err := unix.SchedSetAttr(cmd.Process.Pid, &attr, 0); err != nil {
				t.Logf("bfdd on %s is not real-time: %v", on.Name, err)
			}
		}
		t.Cleanup(func() { cancel(); _ = cmd.Wait() }) // it was killed
		socket := filepath.Join(d.Dir, string(name)+".vty")
		for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			if conn, err := net.Dial("unix", socket); err == nil {
				conn.Close()
				break
			} else if time.Since(begun) > 20*time.Second {
				t.Fatalf("%s on %s: %v\n%s", name, on.Name, err, d.Log(name))
			}
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, name := range frr.Daemons() {
				t.Logf("%s on %s:\n%s", name, on.Name, d.Log(name))
			}
		}
	})
	return d
}

// Directory is a directory of the user as which the daemons run. The test's own one is not for them.
func Directory(t testing.TB) string {
	t.Helper()
	account, err := user.Lookup("frr")
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs the user of FRR: %v", err))
	}
	uid, errUID := strconv.Atoi(account.Uid)
	gid, errGID := strconv.Atoi(account.Gid)
	dir, errDir := os.MkdirTemp("", "frr-")
	if err := errors.Join(errUID, errGID, errDir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Open is a directory in which that user may look for others below it.
func Open(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "frr-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Log is what a daemon has logged.
func (d *Daemons) Log(name frr.Daemon) string {
	text, err := os.ReadFile(filepath.Join(d.Dir, string(name)+".log"))
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

// Show asks a daemon.
func (d *Daemons) Show(name frr.Daemon, command string) string {
	d.t.Helper()
	var text string
	d.do(name, func(c *host.Daemon) (err error) {
		text, err = c.Show(d.t.Context(), command)
		return err
	})
	return text
}

// Apply has a daemon do commands, none of which it may refuse.
func (d *Daemons) Apply(name frr.Daemon, commands ...frr.Command) {
	d.t.Helper()
	d.do(name, func(c *host.Daemon) error { return c.Apply(d.t.Context(), commands) })
}

func (d *Daemons) do(name frr.Daemon, what func(*host.Daemon) error) {
	d.t.Helper()
	if err := d.Try(name, what); err != nil {
		d.t.Fatal(err)
	}
}

// Try does something with a connection to a daemon.
func (d *Daemons) Try(name frr.Daemon, what func(*host.Daemon) error) error {
	c, err := host.Dial(d.t.Context(), d.Dir, name)
	if err != nil {
		return err
	}
	return errors.Join(what(c), c.Close())
}

// Apart is a directory of FRR's programs, which are started in empty networks of their own, whatever
// network starts them.
func Apart(t testing.TB) (programs string) {
	t.Helper()
	programs = filepath.Join(Open(t), "programs")
	if err := os.Mkdir(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range frr.Daemons() {
		need.File(t, Programs+string(name))
		text := "#!/bin/sh\nexec unshare --net " + Programs + string(name) + ` "$@"` + "\n"
		if err := os.WriteFile(filepath.Join(programs, string(name)), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return programs
}
