package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/test/need"
)

func launcher(t *testing.T) *Launcher {
	t.Helper()
	l, err := New(Options{Programs: "/usr/lib/frr", Sockets: filepath.Join(t.TempDir(), "a", "sockets"), User: "frr", Flags: []string{"--flag"}})
	if err != nil {
		need.Missing(t, err.Error())
	}
	return l
}

// TestCommand holds that no daemon reads a file or opens a port, and that bgpd takes no session: another BGP
// speaker of the host has that port.
func TestCommand(t *testing.T) {
	l := launcher(t)
	for _, name := range frr.Daemons() {
		text := strings.Join(l.Command(name, "/s"), " ")
		for _, want := range []string{"/usr/lib/frr/" + string(name) + " -f /dev/null ", " -P 0 ", " --vty_socket /s ", " -z /s/zserv ", " -u frr ", " --flag"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q lacks %q", name, text, want)
			}
		}
		if strings.Contains(text, " -p 0") != (name == frr.BGP) || strings.Contains(text, "--bfdctl") != (name == frr.BFD) {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// TestNew holds that a user that is missing is named, with what to do.
func TestNew(t *testing.T) {
	if _, err := New(Options{User: "no-such-user"}); err == nil || !strings.Contains(err.Error(), "no-such-user") || !strings.Contains(err.Error(), "--user") {
		t.Errorf("%v", err)
	}
}

// TestPrepare holds that the directories are FRR's user's and no others', whatever they were, and that a link
// in their place changes nothing elsewhere.
func TestPrepare(t *testing.T) {
	need.Root(t)
	l := launcher(t)
	check := func(what string) {
		t.Helper()
		for _, dir := range []string{l.Sockets, l.Scratch()} {
			info, err := os.Stat(dir)
			if err != nil {
				t.Fatal(err)
			}
			if is := info.Sys().(*syscall.Stat_t); int(is.Uid) != l.uid || int(is.Gid) != l.gid || info.Mode().Perm() != 0o750 {
				t.Errorf("%s: %s: %d:%d, %v", what, dir, is.Uid, is.Gid, info.Mode())
			}
		}
	}
	for _, what := range []string{"missing", "there"} {
		if err := l.Prepare(); err != nil {
			t.Fatal(err)
		}
		check(what)
	}
	if err := errors.Join(os.Chmod(l.Sockets, 0o777), os.Chown(l.Sockets, 0, 0), os.RemoveAll(l.Scratch()), l.Prepare()); err != nil {
		t.Fatal(err)
	}
	check("another user's")
	foreign := t.TempDir()
	if err := errors.Join(os.RemoveAll(l.Scratch()), os.Symlink(foreign, l.Scratch())); err != nil {
		t.Fatal(err)
	}
	err := l.Prepare()
	info, errInfo := os.Stat(foreign)
	if errInfo != nil || err == nil || int(info.Sys().(*syscall.Stat_t).Uid) == l.uid {
		t.Errorf("a link: %v", err)
	}
	if err := errors.Join(os.Remove(l.Scratch()), os.WriteFile(l.Scratch(), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := l.Prepare(); err == nil {
		t.Error("a file in its place is no error")
	}
}

// TestPrepare_Groups holds that the program may open what its daemons' groups may.
func TestPrepare_Groups(t *testing.T) {
	need.Root(t)
	l := launcher(t)
	if err := l.Prepare(); err != nil {
		t.Fatal(err)
	}
	got, err := syscall.Getgroups()
	for _, g := range l.groups {
		if err != nil || !slices.Contains(got, g) {
			t.Errorf("%v lacks %d, %v", got, g, err)
		}
	}
}

// TestEndOrphans holds that a daemon of an earlier run is ended, also one that ignores SIGTERM, and that no process is
// which has got its number, is another program's, or has other sockets.
func TestEndOrphans(t *testing.T) {
	need.Root(t)
	l := launcher(t)
	if err := l.Prepare(); err != nil {
		t.Fatal(err)
	}
	programs := t.TempDir()
	start := func(name, sockets, script string) *exec.Cmd {
		t.Helper()
		path := filepath.Join(programs, name)
		if err := os.Symlink("/bin/sh", path); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		cmd := exec.Command(path, "-c", script+"; while :; do sleep 0.05; done", "--vty_socket", sockets)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { _ = cmd.Wait(); close(done) }()
		t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
		return cmd
	}
	write := func(name frr.Daemon, text string) {
		t.Helper()
		if err := os.WriteFile(pidFile(l.Sockets, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	alive := func(c *exec.Cmd) bool { return c.Process.Signal(syscall.Signal(0)) == nil }
	if ended, err := l.EndOrphans(t.Context()); err != nil || len(ended) > 0 {
		t.Errorf("without any: %v, %v", ended, err)
	}
	for _, text := range []string{"", "x", "0", "1", "-1", "1073741824"} {
		write(frr.BGP, text)
		if ended, err := l.EndOrphans(t.Context()); err != nil || len(ended) > 0 {
			t.Errorf("%q: %v, %v", text, ended, err)
		}
	}
	others := map[string]*exec.Cmd{"other sockets": start("bgpd", "/elsewhere", ":"), "another program": start("bgpd2", l.Sockets, ":")}
	for what, c := range others {
		write(frr.BGP, fmt.Sprintln(c.Process.Pid))
		if ended, err := l.EndOrphans(t.Context()); err != nil || len(ended) > 0 || !alive(c) {
			t.Errorf("%s: %v, %v", what, ended, err)
		}
	}
	bgpd, zebra := start("bgpd", l.Sockets, "trap '' TERM"), start("zebra", l.Sockets+"/", ":")
	write(frr.BGP, fmt.Sprintln(bgpd.Process.Pid))
	write(frr.Zebra, fmt.Sprintln(zebra.Process.Pid))
	ended, err := l.EndOrphans(t.Context())
	if err != nil || len(ended) != 2 || !strings.HasPrefix(ended[0], "bgpd (") {
		t.Errorf("%v, %v", ended, err)
	}
}
