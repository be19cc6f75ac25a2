package tail

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writer is the other program.
type writer struct {
	t    *testing.T
	path string
	f    *os.File
}

func (w *writer) reopen() error {
	if w.f != nil {
		w.f.Close()
	}
	f, err := os.OpenFile(w.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	w.f = f
	return err
}

func (w *writer) write(text string) {
	w.t.Helper()
	if _, err := w.f.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
}

func newLog(t *testing.T, limit int64) (*Log, *writer) {
	w := &writer{t: t, path: filepath.Join(t.TempDir(), "log")}
	t.Cleanup(func() { w.f.Close() })
	l := &Log{Path: w.path, Limit: limit, Reopen: w.reopen}
	t.Cleanup(l.Close)
	return l, w
}

func expect(t *testing.T, l *Log, want ...string) {
	t.Helper()
	if got, err := l.Lines(); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestLines(t *testing.T) {
	l, w := newLog(t, 1<<20)
	expect(t, l) // there is no file
	if err := w.reopen(); err != nil {
		t.Fatal(err)
	}
	expect(t, l)
	w.write("a\r\nb\nc")
	expect(t, l, "a", "b")
	expect(t, l)
	w.write("c\n\n")
	expect(t, l, "cc", "")
	again := &Log{Path: l.Path, Limit: l.Limit, Reopen: l.Reopen}
	defer again.Close()
	w.write("d\n")
	expect(t, again, "d") // a restart of the reader repeats nothing, and loses nothing
	if err := os.Truncate(l.Path, 0); err != nil {
		t.Fatal(err)
	}
	w.write("e\n")
	expect(t, again, "e")
}

// TestLines_Replaced holds that the files stay small, and that each line is read once, also across
// a change of files in which the reader starts again.
func TestLines_Replaced(t *testing.T) {
	l, w := newLog(t, 1000)
	if err := w.reopen(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range 2000 {
		w.write(fmt.Sprintf("line %d %s\n", i, strings.Repeat("x", i%40)))
		if i%3 == 0 {
			lines, err := l.Lines()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, lines...)
		}
		if i%7 == 0 {
			l.Close()
			l = &Log{Path: l.Path, Limit: l.Limit, Reopen: l.Reopen}
		}
		for _, path := range []string{l.Path, l.former()} {
			if info, err := os.Stat(path); err == nil && info.Size() > 1400 {
				t.Fatalf("%s has %d bytes", path, info.Size())
			}
		}
	}
	for range 3 {
		lines, err := l.Lines()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, lines...)
	}
	l.Close()
	for i := range 2000 {
		if i >= len(got) || !strings.HasPrefix(got[i], fmt.Sprintf("line %d ", i)) {
			t.Fatalf("%d lines, line %d is %q", len(got), i, got[min(i, len(got)-1)])
		}
	}
}

// TestLines_LateWriter holds that what the other program writes to the former file, until it has
// opened the next one, is read.
func TestLines_LateWriter(t *testing.T) {
	l, w := newLog(t, 4)
	l.Reopen = func() error { return nil }
	if err := w.reopen(); err != nil {
		t.Fatal(err)
	}
	w.write("long line\n")
	expect(t, l, "long line") // and the file has another name now
	w.write("late\n")
	expect(t, l, "late")
	w.write("last\n")
	if err := w.reopen(); err != nil {
		t.Fatal(err)
	}
	w.write("new\n")
	expect(t, l, "last")
	expect(t, l, "new")
}

// TestLines_LostReopen holds that the other program opens its file again also if this one has ended before it could
// ask for that, or has asked in vain: its former file would grow for ever.
func TestLines_LostReopen(t *testing.T) {
	l, w := newLog(t, 4)
	if err := w.reopen(); err != nil {
		t.Fatal(err)
	}
	w.write("one\n")
	l.Reopen = func() error { return os.ErrProcessDone }
	if got, err := l.Lines(); err == nil || !slices.Equal(got, []string{"one"}) {
		t.Fatalf("got %q, %v", got, err)
	}
	l.Close()
	l = &Log{Path: l.Path, Limit: l.Limit, Reopen: w.reopen}
	defer l.Close()
	w.write("two\n")
	expect(t, l, "two")
	w.write("new\n")
	expect(t, l)
	expect(t, l, "new")
}

// TestLines_Long holds that a line without an end takes no memory, and costs no later line.
func TestLines_Long(t *testing.T) {
	l, w := newLog(t, 1<<30)
	if err := w.reopen(); err != nil {
		t.Fatal(err)
	}
	w.write(strings.Repeat("x", 2*maxRead) + "\nnext\n" + strings.Repeat("y", maxRead+maxRead/8) + "\nlast\n")
	var got []string
	for range 8 {
		lines, err := l.Lines()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, lines...)
	}
	if !slices.Equal(got, []string{"next", "last"}) {
		t.Errorf("got %.40q", got)
	}
}

func TestLines_Fault(t *testing.T) {
	l := &Log{Path: t.TempDir()}
	defer l.Close()
	if _, err := l.Lines(); err == nil || !strings.Contains(err.Error(), "read "+l.Path) {
		t.Errorf("a directory: %v", err)
	}
}
