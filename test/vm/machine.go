package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/onprem-infra/onprem-infra/test/owner"
)

const (
	// workDir holds a directory for each machine. It must be on a file system that overlays can be
	// stacked on.
	workDir    = "/var/tmp"
	namePrefix = "onprem-vm."
)

// serial numbers the machines of one process.
var serial atomic.Int64

// Machine is one computer's disks. No mount outlives a step, so a crash leaves nothing but a
// directory.
type Machine struct {
	name string // unique on this machine
	dir  string
	root string // the read-only layer below
}

// New makes a machine with an untouched disk over the root file system.
func New(root string) (*Machine, error) {
	if err := removeLeftovers(); err != nil {
		return nil, fmt.Errorf("remove what dead machines left: %w", err)
	}
	self, err := owner.Self()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s%s.%d", namePrefix, self, serial.Add(1))
	m := &Machine{name: name, dir: filepath.Join(workDir, name), root: root}
	for _, d := range []string{"upper", "work", "root", "containers", "stubs", "scratch"} {
		if err := os.MkdirAll(filepath.Join(m.dir, d), 0o755); err != nil {
			return nil, errors.Join(err, m.Remove())
		}
	}
	err = errors.Join(
		m.Write("/etc/containers/containers.conf", limits("systemd"), 0o644),
		m.Write("/etc/hosts", []byte("127.0.0.1 localhost\n::1 localhost\n"), 0o644),
	)
	if err != nil {
		return nil, errors.Join(err, m.Remove())
	}
	return m, nil
}

// Scratch is a directory for files of the test that are not on the machine's disk. It goes with the
// machine.
func (m *Machine) Scratch() string { return filepath.Join(m.dir, "scratch") }

// Write puts a file on the disk of a machine that does not run.
func (m *Machine) Write(path string, content []byte, mode os.FileMode) error {
	file := filepath.Join(m.dir, "upper", path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, content, mode); err != nil {
		return err
	}
	return os.Chmod(file, mode)
}

// Link puts a symbolic link on the disk of a machine that does not run.
func (m *Machine) Link(path, target string) error {
	file := filepath.Join(m.dir, "upper", path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(target, file)
}

// Remove removes the machine's disks and control groups, and what a test that died has left mounted
// among its files. It must not run.
func (m *Machine) Remove() error {
	return errors.Join(removeGroups(m.name), unmountBelow(m.dir), os.RemoveAll(m.dir))
}

// removeLeftovers removes the directories and control groups of machines whose owner has exited.
// Their processes ended with the lab that they were plugged into.
func removeLeftovers() error {
	paths := append(groupTrees(), workDir)
	var errs []error
	for _, dir := range paths {
		entries, err := filepath.Glob(filepath.Join(dir, namePrefix+"*"))
		errs = append(errs, err)
		for _, path := range entries {
			if name := filepath.Base(path); owner.Dead(strings.TrimPrefix(name, namePrefix)) {
				errs = append(errs, (&Machine{name: name, dir: filepath.Join(workDir, name)}).Remove())
			}
		}
	}
	return errors.Join(errs...)
}

// step prepares a shell script that sees the machine's disk at $R, in a mount namespace that ends
// with it.
func (m *Machine) step(ctx context.Context, script string, env ...string) *exec.Cmd {
	const mount = `mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$DIR/upper,workdir=$DIR/work" "$R"` + "\n"
	cmd := exec.CommandContext(ctx, "unshare", "--mount", "--propagation", "private", "sh", "-euc", mount+script)
	cmd.Env = append(os.Environ(), append([]string{"LOWER=" + m.root, "DIR=" + m.dir, "R=" + filepath.Join(m.dir, "root"), "NAME=" + m.name}, env...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}
