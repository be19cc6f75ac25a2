// Package launch starts FRR's daemons on a host: as which user, with which command lines and
// sockets, and without those of an earlier run.
package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/frr"
)

// Options are where FRR is, and as which user it runs.
type Options struct {
	Programs string   // directory of FRR's programs
	Sockets  string   // directory of the daemons' own sockets
	User     string   // by its name
	Flags    []string // for each daemon
}

// Launcher knows how daemons are started.
type Launcher struct {
	Options
	group    string
	uid, gid int
	groups   []int
}

// New finds FRR's user in the files of this program's root. The program must be root or that user.
func New(o Options) (*Launcher, error) {
	account, err := user.Lookup(o.User)
	if err != nil {
		return nil, fmt.Errorf("find FRR's user: %w: use an image that has FRR, or write another "+
			"name with --user", err)
	}
	l := &Launcher{Options: o}
	group, errName := user.LookupGroupId(account.Gid)
	all, errGroups := account.GroupIds()
	if err := errors.Join(errName, errGroups); err != nil {
		return nil, fmt.Errorf("find the groups of FRR's user %s: %w", o.User, err)
	}
	l.group = group.Name
	numbers := make([]int, len(all)+2)
	for i, text := range append([]string{account.Uid, account.Gid}, all...) {
		if numbers[i], err = strconv.Atoi(text); err != nil {
			return nil, fmt.Errorf("read the numbers of FRR's user %s: %w", o.User, err)
		}
	}
	l.uid, l.gid, l.groups = numbers[0], numbers[1], numbers[2:]
	if uid := os.Geteuid(); uid != 0 && uid != l.uid {
		return nil, fmt.Errorf("this program runs as user %d: run it as root or as %s", uid, o.User)
	}
	return l, nil
}

// UID is the number of FRR's user.
func (l *Launcher) UID() int { return l.uid }

// Scratch is the directory of the sockets of daemons that only test a configuration.
func (l *Launcher) Scratch() string { return filepath.Join(l.Sockets, "scratch") }

// Prepare makes the directories of the sockets, for FRR's user alone. As root this program joins
// that user's groups: in a container it may not have the capability that opens every file.
func (l *Launcher) Prepare() error {
	if os.Geteuid() == 0 {
		own, err := syscall.Getgroups()
		if err != nil {
			return fmt.Errorf("read the groups of this program: %w", err)
		}
		all := slices.Compact(slices.Sorted(slices.Values(append(own, l.groups...))))
		if err := syscall.Setgroups(all); err != nil {
			return fmt.Errorf("join the groups of FRR's user %s: %w", l.User, err)
		}
	}
	if err := l.directories(); err != nil {
		return fmt.Errorf("prepare the directory of FRR's sockets: %w", err)
	}
	return nil
}

func (l *Launcher) directories() error {
	if err := os.MkdirAll(filepath.Dir(l.Sockets), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(l.Sockets, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	_, err := os.Lstat(l.Scratch())
	if errors.Is(err, fs.ErrNotExist) {
		// The owner can make it there, whatever this program may do besides.
		if err = give(l.Sockets, os.Geteuid(), l.gid); err == nil {
			err = os.Mkdir(l.Scratch(), 0o750)
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(give(l.Scratch(), l.uid, l.gid), give(l.Sockets, l.uid, l.gid))
}

// give gives a directory to a user. A link in its place is an error: FRR's user can make one.
func give(dir string, uid, gid int) error {
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	info, err := d.Stat()
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	if info.Mode().Perm() != 0o750 { // only its owner may change that
		if err := d.Chown(os.Geteuid(), gid); err != nil {
			return err
		}
		if err := d.Chmod(0o750); err != nil {
			return err
		}
	} else if int(owner.Uid) == uid && int(owner.Gid) == gid {
		return nil
	}
	return d.Chown(uid, gid)
}

// Command is a daemon's command line. None of them reads a file or opens a TCP port for its vty,
// and bgpd listens for no sessions: another BGP speaker of the host may have the port.
func (l *Launcher) Command(name frr.Daemon, sockets string) []string {
	command := []string{filepath.Join(l.Programs, string(name)), "-f", "/dev/null", "-P", "0",
		"--vty_socket", sockets, "-z", filepath.Join(sockets, "zserv"),
		"-i", pidFile(sockets, name), "--log", "stdout", "-u", l.User, "-g", l.group}
	switch name {
	case frr.BGP:
		command = append(command, "-p", "0")
	case frr.BFD:
		command = append(command, "--bfdctl", filepath.Join(sockets, "bfdctl"))
	}
	return append(command, l.Flags...)
}

func pidFile(sockets string, name frr.Daemon) string {
	return filepath.Join(sockets, string(name)+".pid")
}

// As is FRR's user, as which a daemon starts, with the capabilities that it needs, most of which
// it takes only later. If it changed its user by itself, the kernel would no longer end it with
// its parent.
func (l *Launcher) As() *syscall.SysProcAttr {
	as := &syscall.SysProcAttr{AmbientCaps: []uintptr{unix.CAP_NET_BIND_SERVICE,
		unix.CAP_NET_ADMIN, unix.CAP_NET_RAW, unix.CAP_SYS_ADMIN}}
	if os.Geteuid() != l.uid {
		as.Credential = &syscall.Credential{Uid: uint32(l.uid), Gid: uint32(l.gid)}
		for _, g := range l.groups {
			as.Credential.Groups = append(as.Credential.Groups, uint32(g))
		}
	}
	return as
}
