package figures

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Together is the memory that processes have in kB: a page that several of them have mapped, as of
// the file of a program, counts once. A process that has ended has none. It needs to be root, as
// no other user sees which page is which (proc_pid_pagemap(5)).
func Together(pids ...int) (kb int, err error) {
	pages := map[uint64]struct{}{}
	for _, pid := range pids {
		if err := mapped(pid, pages); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("read the pages of process %d: %w", pid, err)
		}
	}
	return len(pages) * (os.Getpagesize() >> 10), nil
}

// mapped adds the frames of memory behind a process's pages.
func mapped(pid int, frames map[uint64]struct{}) error {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return err
	}
	table, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", pid))
	if err != nil {
		return err
	}
	defer table.Close()
	const entry, present, frame = 8, 1 << 63, 1<<55 - 1
	size := int64(os.Getpagesize())
	for line := range bytes.Lines(maps) {
		if bytes.HasSuffix(bytes.TrimSpace(line), []byte("[vsyscall]")) {
			continue // it is the kernel's, above what the table has
		}
		var from, to int64
		if _, err := fmt.Sscanf(string(line), "%x-%x", &from, &to); err != nil {
			return err
		}
		entries := make([]byte, (to-from)/size*entry)
		n, err := table.ReadAt(entries, from/size*entry)
		if err != nil && err != io.EOF { // without an entry: the process has ended
			return err
		}
		for ; n >= entry; n, entries = n-entry, entries[entry:] {
			if e := binary.NativeEndian.Uint64(entries); e&present != 0 && e&frame != 0 {
				frames[e&frame] = struct{}{}
			}
		}
	}
	return nil
}
