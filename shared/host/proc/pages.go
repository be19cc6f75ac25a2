package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Unmap releases the pages of this program's own file that it has touched so far, and returns how
// many bytes were mapped at the most. The start of a program reads most of it once, for tables and
// initialisers that are not needed again. The kernel maps other pages from its cache at the next
// touch. Pages that have been written to are left alone.
func Unmap() (bytes int, err error) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return 0, fmt.Errorf("find this program's file: %w", err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, fmt.Errorf("read this program's memory: %w", err)
	}
	for _, r := range readOnly(maps, program) {
		// unix.Madvise takes a slice, which is memory of Go's; this is not.
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, r.from, r.to-r.from,
			unix.MADV_DONTNEED); errno != 0 {
			return bytes, fmt.Errorf("release this program's pages: %w", errno)
		}
		bytes += int(r.to - r.from)
	}
	return bytes, nil
}

// region is a part of a process's memory.
type region struct{ from, to uintptr }

// readOnly finds the parts of a program's file that are mapped and cannot be written to:
// "00400000-01318000 r-xp 00000000 fe:00 803528 /usr/bin/x".
func readOnly(maps []byte, program string) (all []region) {
	for line := range bytes.Lines(maps) {
		fields := bytes.Fields(line)
		if len(fields) < 6 || !bytes.HasSuffix(bytes.TrimSuffix(line, []byte("\n")),
			[]byte(" "+program)) || bytes.IndexByte(fields[1], 'w') >= 0 {
			continue
		}
		from, to, _ := bytes.Cut(fields[0], []byte("-"))
		first, err := strconv.ParseUint(string(from), 16, 64)
		if err != nil {
			continue
		}
		if end, err := strconv.ParseUint(string(to), 16, 64); err == nil {
			all = append(all, region{uintptr(first), uintptr(end)})
		}
	}
	return all
}
