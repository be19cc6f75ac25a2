// Package terminal reports which terminal, if any, shows the output.
package terminal

import (
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Is reports whether the output is a terminal, or another character device such as /dev/null.
func Is(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}

// Width is the number of a terminal's columns, 0 if there is none or it is not known.
func Width(w any) int {
	if !Is(w) {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(w.(*os.File).Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// Colours reports whether a terminal is to be written to in colours: NO_COLOR forbids them
// (no-color.org), and a dumb terminal has none.
func Colours(w io.Writer) bool {
	return Is(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
