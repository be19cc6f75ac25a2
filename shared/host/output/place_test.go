package output

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// written is a place below a directory, and what is asked of writing there.
type written struct {
	name, path string
	tree       bool
	want       string // of the error; empty for none
}

// TestDryRun_RefusesWhatTheRealRunRefuses holds both runs to the same error, and each of them to
// leave the directory as it was.
func TestDryRun_RefusesWhatTheRealRunRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.Chmod(filepath.Dir(dir), 0o755),
		os.MkdirAll(filepath.Join(dir, "closed", "sub"), 0o755),
		os.MkdirAll(filepath.Join(dir, "blocked/etc/b"), 0o777),
		os.MkdirAll(filepath.Join(dir, "lost/etc"), 0o777),
		os.Mkdir(filepath.Join(dir, "above"), 0o777),
		os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o644),
		os.WriteFile(filepath.Join(dir, "above/etc"), nil, 0o644),
		os.WriteFile(filepath.Join(dir, "closed/old"), []byte("x"), 0o644),
		os.Symlink("absent", filepath.Join(dir, "link")),
		os.Symlink("/nowhere", filepath.Join(dir, "lost/etc/a")),
		os.Chmod(filepath.Join(dir, "blocked/etc"), 0o777),
		os.Chmod(filepath.Join(dir, "lost/etc"), 0o777),
		os.Chmod(filepath.Join(dir, "blocked"), 0o777),
		os.Chmod(filepath.Join(dir, "lost"), 0o777),
		os.Chmod(filepath.Join(dir, "above"), 0o777),
		os.Chmod(dir, 0o777),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []written{
		{"a directory for a document", "closed", false, "/closed: it is a directory: name another"},
		{"a document below a file", "file/x", false, "/file is not a directory: name another " +
			"output"},
		{"a document in no directory", "absent/x", false, "there is no directory"},
		{"a document in a closed directory", "closed/x", false, "permission denied: name a place"},
		{"a closed document that is there", "closed/old", false, "permission denied: name a place"},
		{"a link to nothing", "link", false, "/link is a symbolic link to absent, which does not " +
			"exist"},
		{"a tree in a file's place", "file", true, "/file is not a directory: name another output"},
		{"a tree below a file", "file/x/y", true, "/file is not a directory: name another output"},
		{"a tree in a closed directory", "closed/new/tree", true, "permission denied: name a " +
			"place"},
		{"a closed tree", "closed", true, "permission denied: name a place"},
		{"a tree behind a link to nothing", "link/tree", true, "is a symbolic link to absent, " +
			"which"},
		{"a directory in a file's place", "blocked", true, "/blocked/etc/b: it is a directory"},
		{"a file in a directory's place", "above", true, "/above/etc is not a directory"},
		{"a link to nothing in the tree", "lost", true, "/etc/a: it is a symbolic link to " +
			"/nowhere"},
	} {
		t.Run(tt.name, func(t *testing.T) { refusesTwice(t, dir, tt) })
	}
}

func refusesTwice(t *testing.T, dir string, tt written) {
	before := names(t, dir)
	var logged []string
	for _, dry := range []bool{true, false} {
		p := Place{Path: filepath.Join(dir, tt.path), DryRun: dry}
		err := unprivileged(t, func() error {
			if tt.tree {
				_, err := p.Tree(files(), nil, func(string, []byte) bool { return true })
				return err
			}
			_, err := p.Document([]byte("text"), ours)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("dry run %v: got %v, want one with %s", dry, err, tt.want)
			continue
		}
		logged = append(logged, err.Error())
		if after := names(t, dir); !slices.Equal(before, after) {
			t.Errorf("dry run %v: it left %v", dry, after)
		}
	}
	if len(logged) == 2 && logged[0] != logged[1] {
		t.Errorf("a dry run ends with\n%s\nand the real one with\n%s", logged[0], logged[1])
	}
}

// unprivileged calls a function as a user that may not write everywhere. The thread with that user
// ends with it.
func unprivileged(t *testing.T, do func() error) (err error) {
	t.Helper()
	if os.Getuid() != 0 {
		return do()
	}
	return as(nobody, do)
}

const nobody = 65534

// as calls a function on a thread whose real user is nobody, and whose effective one is another.
func as(effective uintptr, do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		_, _, no := syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, effective, effective)
		if no != 0 {
			done <- errors.New("no such user: " + no.Error())
			return
		}
		done <- do()
	}()
	return <-done
}

// TestDocument_ByEffectiveUser holds that what may be written is not refused, whoever the real user
// is.
func TestDocument_ByEffectiveUser(t *testing.T) {
	need.Root(t)
	p := Place{Path: filepath.Join(t.TempDir(), "a.ign")}
	if err := as(0, func() error { _, err := p.Document([]byte("text"), ours); return err }); err != nil {
		t.Error(err)
	}
}

// TestTree_BelowAClosedDirectory holds that the tree's own directory need not be writable where
// nothing is made in it, as / is not on many hosts.
func TestTree_BelowAClosedDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.Chmod(filepath.Dir(dir), 0o755), os.Mkdir(filepath.Join(dir, "etc"), 0o777),
		os.Chmod(filepath.Join(dir, "etc"), 0o777), os.Chmod(dir, 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dry := range []bool{true, false} {
		err := unprivileged(t, func() error {
			_, err := Place{
				Path:   dir,
				DryRun: dry,
			}.Tree(files(), nil, func(string, []byte) bool { return true })
			return err
		})
		if err != nil {
			t.Errorf("dry run %v: %v", dry, err)
		}
	}
}

// TestTree_ReplacesALinkByForce holds that --force puts the file in the place of a link that leads
// out of the tree, and leaves what it led to alone.
func TestTree_ReplacesALinkByForce(t *testing.T) {
	dir, outside := there(t, "x", "etc/b"), there(t, "x", "target")
	target := filepath.Join(outside, "target")
	if err := os.Symlink(target, filepath.Join(dir, "etc/a")); err != nil {
		t.Fatal(err)
	}
	if _, err := (Place{Path: dir, Force: true}).Tree(files(), nil, func(string, []byte) bool { return false }); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "etc/a"))
	kept, errKept := os.ReadFile(target)
	if err != nil || errKept != nil || string(text) != "a\n" || string(kept) != "x" {
		t.Errorf("the file is %q (%v), the link's target %q (%v)", text, err, kept, errKept)
	}
}
