package ramdisk

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Archive is an archive that the kernel unpacks over the ramdisk's files if it follows the
// initramfs: files of mode 0644 by their paths, and their directories.
func Archive(files map[string][]byte) []byte {
	var a archive
	made := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, dir := range parents(name) {
			if !made[dir] {
				a.add(dir, 0o040755, nil)
			}
			made[dir] = true
		}
		a.add(name, 0o100644, files[name])
	}
	return a.end()
}

// parents are the directories above a path, the highest first.
func parents(name string) (dirs []string) {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}

// archiveTree is an archive of a tree's directories, files and links, all owned by root.
func archiveTree(root string) ([]byte, error) {
	var a archive
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == root {
			return err
		}
		name, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var content []byte
		mode := uint32(info.Mode().Perm())
		switch d.Type() {
		case fs.ModeDir:
			mode |= 0o040000
		case fs.ModeSymlink:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			mode, content = 0o120777, []byte(target)
		case 0:
			mode |= 0o100000
			if content, err = os.ReadFile(p); err != nil {
				return err
			}
		default:
			return fmt.Errorf("archive %s: it is neither a file nor a directory nor a link", p)
		}
		a.add(name, mode, content)
		return nil
	})
	return a.end(), err
}

// archive is one in cpio's format newc, which the kernel reads
// (Documentation/driver-api/early-userspace/buffer-format.rst).
type archive struct {
	out     bytes.Buffer
	entries int
}

func (a *archive) add(name string, mode uint32, content []byte) {
	a.entries++
	fields := []int{
		a.entries, int(mode), 0, 0, 1, 0, len(content), // inode, mode, user, group, links, time, size
		0, 0, 0, 0, len(name) + 1, 0, // devices, the name's size, no checksum
	}
	a.out.WriteString("070701")
	for _, field := range fields {
		fmt.Fprintf(&a.out, "%08X", field)
	}
	a.out.WriteString(name + "\x00")
	a.pad()
	a.out.Write(content)
	a.pad()
}

// pad fills up to a multiple of four bytes.
func (a *archive) pad() { a.out.Write(make([]byte, -a.out.Len()&3)) }

func (a *archive) end() []byte {
	a.add("TRAILER!!!", 0, nil)
	return a.out.Bytes()
}
