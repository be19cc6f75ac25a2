package pods

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// small are the directories that have file systems of their own after Disks.
var small = []string{"run", "var"}

// Disks gives a node that runs nothing file systems of its own for /run and /var, in memory and of
// so many bytes each, so that they can be full. What was in the directories is gone. Close takes
// them away.
func (n *Node) Disks(bytes int64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.disk = bytes
	for _, dir := range small {
		if err := n.mount(dir); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(n.Root, "var/lib"), 0o755)
}

func (n *Node) mount(dir string) error {
	path := filepath.Join(n.Root, dir)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%d,mode=755", n.disk)); err != nil {
		return fmt.Errorf("mount a small disk at %s: %w", path, err)
	}
	return unix.Mount("", path, "", unix.MS_PRIVATE, "")
}

// Fill fills the file system of a directory of the node, such as /run or /var/lib, to the last
// byte. empty undoes it; it may be called twice.
func (n *Node) Fill(dir string) (empty func() error, err error) {
	first, _, _ := strings.Cut(strings.TrimPrefix(filepath.Clean(dir), "/"), "/")
	if n.disk == 0 || !slices.Contains(small, first) {
		return nil, fmt.Errorf("fill %s on %s: it has no disk of its own, so this machine's would be full", dir, n.Host.Name)
	}
	path := filepath.Join(n.Root, first, ".filled")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		_, err := f.Write(make([]byte, size))
		if errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			return nil, err
		}
	}
	return func() error {
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}, nil
}

// forget empties /run, as a boot does.
func (n *Node) forget() error {
	path := filepath.Join(n.Root, "run")
	if n.disk == 0 {
		return errors.Join(os.RemoveAll(path), os.MkdirAll(path, 0o755))
	}
	if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("take %s away: %w", path, err)
	}
	return n.mount("run")
}

// Close takes the node's own file systems away. Nothing may run on it.
func (n *Node) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	if n.disk > 0 {
		for _, dir := range small {
			errs = append(errs, unix.Unmount(filepath.Join(n.Root, dir), unix.MNT_DETACH))
		}
		n.disk = 0
	}
	return errors.Join(errs...)
}
