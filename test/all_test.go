package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeGo is a FAKE of the go command, for test/all alone: it lists as the real one does, notes
// which packages it is to test, and fails in some of them as the real one does.
const fakeGo = `#!/bin/sh
[ "$1" != list ] || exec go "$@"
echo "$*" >>"$NOTES"
case $* in
*/test/poddns*) printf -- '--- FAIL: TestVIP (1.00s)\n    chain.go:1: no\n        m1 says nothing\nFAIL\nFAIL\texample.com/test/poddns\t1.0s\n'; exit 1 ;;
"test -C "*) echo 'go: cannot find main module' >&2; exit 1 ;;
esac
`

// TestAll holds that test/all tests every package and the other module, whatever fails, and that it
// fails with a list of what did, and why.
func TestAll(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go": fakeGo, "make": "#!/bin/sh\necho make \"$*\" >>\"$NOTES\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	notes := filepath.Join(dir, "notes")
	run := func(fake string, args ...string) (out string, failed bool, tested []string) {
		t.Helper()
		if err := os.WriteFile(notes, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "bash", append([]string{"test/all"}, args...)...)
		cmd.Dir = ".."
		cmd.Env = append(os.Environ(), "NOTES="+notes, "GO="+fake, "TAGS=-tags remote",
			"COREDNS=cmd/onprem-coredns", "MAKE="+filepath.Join(dir, "make"))
		text, err := cmd.CombinedOutput()
		noted, errRead := os.ReadFile(notes)
		if errRead != nil {
			t.Fatal(errRead)
		}
		return string(text), err != nil, strings.Fields(string(noted))
	}
	out, failed, tested := run(filepath.Join(dir, "go"))
	want := "\nfailed:\ngo test -C cmd/onprem-coredns ./...\n--- FAIL: TestVIP (1.00s)\n    chain.go:1: no\n" +
		"FAIL\texample.com/test/poddns\t1.0s\n"
	if got := strings.ReplaceAll(out, dir+"/", ""); !failed || !strings.HasSuffix(got, want) {
		t.Errorf("it ends (failed: %v) with\n%s\nwant\n%s", failed, got[max(0, len(got)-len(want)-200):], want)
	}
	if !slices.Contains(tested, "check") {
		t.Errorf("`make check` is not among what is run: %v", tested)
	}
	for _, p := range rooms(t) {
		n := 0
		for _, word := range tested {
			if word == "./"+p.room() {
				n++
			}
		}
		if n != 1 {
			t.Errorf("./%s is tested %d times", p.room(), n)
		}
	}
	out, failed, tested = run(filepath.Join(dir, "go"), "long")
	if failed || !slices.Contains(tested, "./test/e2e") {
		t.Errorf("the long groups (failed: %v) test %v, want ./test/e2e among them\n%s", failed, tested, out)
	}
	for _, p := range rooms(t) {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "\nfunc TestLong") && !slices.Contains(tested, "./"+p.room()) {
				t.Errorf("the long tests of %s are in no group: %v", name, tested)
			}
		}
	}
	if out, failed, _ := run("true"); failed || strings.Contains(out, "failed:") {
		t.Errorf("nothing fails, and it ends (failed: %v) with\n%s", failed, out)
	}
}
