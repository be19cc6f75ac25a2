package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// files are a small tree.
func files() []asset.File {
	return []asset.File{
		{Path: "/etc/a", Mode: 0o644, Contents: []byte("a\n")},
		{Path: "/etc/b", Mode: 0o755, Contents: []byte("b\n")},
	}
}

// there makes a directory with files of one text.
func there(t *testing.T, text string, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTree_Outcomes(t *testing.T) {
	none := func(string, []byte) bool { return false }
	all := func(string, []byte) bool { return true }
	for _, tt := range []struct {
		name  string
		dir   string
		force bool
		ours  func(string, []byte) bool
		want  []Action // of a, b and what leaves
	}{
		{"an empty directory", there(t, ""), false, none, []Action{Create, Create}},
		{"a file with the same text", there(t, "a\n", "etc/a"), false, none, []Action{Keep, Create}},
		{"a file with the same text and another mode", there(t, "b\n", "etc/b"), false, none, []Action{Create, Change}},
		{"an empty file", there(t, "", "etc/a"), false, none, []Action{Change, Create}},
		{"a file of ours", there(t, "x", "etc/a"), false, all, []Action{Change, Create}},
		{"a foreign file, by force", there(t, "x", "etc/a"), true, none, []Action{Change, Create}},
		{"a file that leaves", there(t, "x", "etc/c", "etc/d"), false, none, []Action{Create, Create, Remove}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var leave []string
			if slices.Contains(tt.want, Remove) {
				leave = []string{"/etc/c"}
			}
			before := names(t, tt.dir)
			for _, dry := range []bool{true, false} {
				p := Place{Path: tt.dir, Force: tt.force, DryRun: dry}
				done, err := p.Tree(files(), leave, tt.ours)
				var got []Action
				for _, o := range done {
					got = append(got, o.Action)
				}
				if err != nil || !slices.Equal(got, tt.want) {
					t.Errorf("dry run %v: got %v %v, want %v", dry, got, err, tt.want)
				}
				if after := names(t, tt.dir); dry != slices.Equal(after, before) {
					t.Errorf("dry run %v: left %v", dry, after)
				}
			}
			for _, f := range files() {
				text, err := os.ReadFile(filepath.Join(tt.dir, f.Path))
				info, errStat := os.Stat(filepath.Join(tt.dir, f.Path))
				if err != nil || errStat != nil || string(text) != string(f.Contents) ||
					info.Mode() != f.Mode {
					t.Errorf("%s is %q %v (%v)", f.Path, text, info.Mode(), err)
				}
			}
			if _, err := os.Stat(filepath.Join(tt.dir, "etc/c")); leave != nil &&
				!errors.Is(err, fs.ErrNotExist) {
				t.Errorf("what leaves is there: %v", err)
			}
		})
	}
}

// TestTree_Refuses holds that nothing is written where one file is not to be, and that every such
// file is named.
func TestTree_Refuses(t *testing.T) {
	dir := there(t, "x", "etc/a", "etc/b")
	none := func(string, []byte) bool { return false }
	_, err := Place{Path: dir}.Tree(files(), nil, none)
	want := []string{filepath.Join(dir, "etc/a"), filepath.Join(dir, "etc/b")}
	if foreign := (ForeignError{}); !errors.As(err, &foreign) ||
		!slices.Equal(foreign.Paths, want) {
		t.Errorf("got %v, want one about %v", err, want)
	}
	input := filepath.Join(dir, "etc/b")
	_, err = Place{
		Path:   dir,
		Inputs: []string{"absent", input},
		Force:  true,
	}.Tree(files(), nil, none)
	if wrong := (InputError{}); !errors.As(err, &wrong) || wrong.Input != input {
		t.Errorf("got %v, want one about the input %s", err, input)
	}
	for _, name := range []string{"etc/a", "etc/b"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "x" {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
}

// TestTree_FailsWhole makes a directory and leaves none if it fails.
func TestTree_FailsWhole(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "parent", "new")
	twice := append(files(), asset.File{Path: "/etc/a/b", Mode: 0o644})
	if _, err := (Place{Path: dir}).Tree(twice, nil, func(string, []byte) bool { return true }); err == nil {
		t.Fatal("a file became a directory")
	}
	if left, err := os.ReadDir(top); err != nil || len(left) > 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
}

// TestTree_NamesTheFile holds that an error in the middle of a tree names the file.
func TestTree_NamesTheFile(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	file := filepath.Join(dir, "etc/a")
	if err := at(root, "/etc/a", "write", &fs.PathError{Err: syscall.EACCES}); !strings.Contains(
		err.Error(), file) {
		t.Errorf("%v: it does not name %s", err, file)
	}
	s := stage{root: root}
	defer s.clear()
	if err := errors.Join(s.add(files()[0]), os.MkdirAll(filepath.Join(file, "x"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := s.commit(); err == nil || !strings.HasPrefix(err.Error(), "write "+file+": ") {
		t.Errorf("a file moved over a directory: %v", err)
	}
}

// TestTree_SeveralAtOnce holds that runs which write one tree at one time all succeed. In containers
// they have one process number.
func TestTree_SeveralAtOnce(t *testing.T) {
	for range 20 {
		dir := filepath.Join(t.TempDir(), "new", "tree")
		failed := make(chan error)
		const runs = 8
		for range runs {
			go func() {
				_, err := Place{Path: dir}.Tree(files(), nil, func(string, []byte) bool { return true })
				failed <- err
			}()
		}
		for range runs {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		if left := names(t, dir); len(left) != len(files()) {
			t.Errorf("it left %v", left)
		}
	}
}

// TestTree_AfterAKilledRun holds that what a killed run has left does not stop the next one, which
// may have its process number.
func TestTree_AfterAKilledRun(t *testing.T) {
	dir := there(t, "half", fmt.Sprintf("etc/.a.%d", os.Getpid()))
	if _, err := (Place{Path: dir}).Tree(files(), nil, func(string, []byte) bool { return false }); err != nil {
		t.Error(err)
	}
}

// TestTree_OnTheDisk holds that the text of each file is on the disk when the file is in its place: a
// loss of power would leave an empty one.
func TestTree_OnTheDisk(t *testing.T) {
	dir := there(t, "x", "control")
	if unwritten(t, filepath.Join(dir, "control")) == 0 {
		t.Skip("the file system does not show what is not on the disk yet")
	}
	if _, err := (Place{Path: dir}).Tree(files(), nil, func(string, []byte) bool { return false }); err != nil {
		t.Fatal(err)
	}
	for _, f := range files() {
		if n := unwritten(t, filepath.Join(dir, f.Path)); n > 0 {
			t.Errorf("%s: %d pages are not on the disk", f.Path, n)
		}
	}
}

// unwritten is how many pages of a file are not on the disk yet.
func unwritten(t *testing.T, path string) uint64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var pages unix.Cachestat_t
	if err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{}, &pages, 0); err != nil {
		t.Skip("the kernel does not show what is not on the disk yet:", err) // before 6.5
	}
	return pages.Dirty + pages.Writeback
}

// names are the paths, modes and sizes below a directory.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			text, _ := os.ReadFile(path)
			all = append(all, path+" "+info.Mode().String()+" "+string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
