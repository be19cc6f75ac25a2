package terminal

import (
	"bytes"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// pty opens a terminal of a width.
func pty(t *testing.T, columns uint16) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		need.Missing(t, "needs a terminal: "+err.Error())
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: 24}); err != nil {
		t.Fatal(err)
	}
	return slave
}

func TestWidth(t *testing.T) {
	if got := Width(pty(t, 72)); got != 72 {
		t.Errorf("%d columns, want 72", got)
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if Width(file) != 0 || Width(&bytes.Buffer{}) != 0 || Is(file) {
		t.Error("a file is no terminal")
	}
}

func TestColours(t *testing.T) {
	tty := pty(t, 80)
	for _, tt := range []struct {
		noColor, term string
		want          bool
	}{{"", "xterm", true}, {"1", "xterm", false}, {"", "dumb", false}} {
		t.Setenv("NO_COLOR", tt.noColor)
		t.Setenv("TERM", tt.term)
		if got := Colours(tty); got != tt.want {
			t.Errorf("NO_COLOR=%q TERM=%q: %t", tt.noColor, tt.term, got)
		}
	}
	t.Setenv("TERM", "xterm")
	if Colours(&bytes.Buffer{}) {
		t.Error("colours in a file")
	}
}
