package scars

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// asked is the environment variable that asks for the replay when its value is "1", long the one
// for tests that boot machines.
const (
	asked = "ONPREM_INFRA_SCARS"
	long  = "ONPREM_INFRA_LONG"
)

// atOnce is how many defects are tried at a time, each in a copy of the tree.
const atOnce = 2

// TestReplay puts every defect in and sees the first test of its scar fail, which must pass without
// the defect. A package that cannot be built with a defect is no failing test.
func TestReplay(t *testing.T) {
	if os.Getenv(asked) != "1" {
		t.Skipf("takes minutes: make scars, or %s=1, asks for it", asked)
	}
	r := replay{
		copies: make(chan string, atOnce), scars: defective(t), clean: map[string]func() (result, error){},
	}
	for range atOnce {
		dir := t.TempDir()
		if err := copyTree(dir); err != nil {
			t.Fatal(err)
		}
		r.copies <- dir
	}
	for _, s := range r.scars {
		test := s.Tests[0]
		r.clean[test.group()] = sync.OnceValues(func() (result, error) {
			return r.without(t.Context(), test)
		})
	}
	for _, s := range r.scars {
		test := s.Tests[0]
		t.Run(fmt.Sprintf("%s %s %s", s.ID, test.Room, test.Name), func(t *testing.T) {
			t.Parallel()
			if test.asks() && os.Getenv(long) != "1" {
				t.Skipf("boots a machine, or takes long: %s=1 asks for it", long)
			}
			took, err := r.replay(t.Context(), test, s.Defect)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("%s  %s %s: failed in %.1f s\n", s.ID, test.Room, test.Name, took.Seconds())
		})
	}
}

// defective are the scars that have a defect.
func defective(t *testing.T) (all []Scar) {
	t.Helper()
	for _, c := range chapters(t) {
		for _, s := range c.Scars {
			if s.Defect.In != "" {
				all = append(all, s)
			}
		}
	}
	return all
}

// boots says whether the test boots a machine, which takes a minute and much of this one.
func (k Test) boots() bool { return k.Room == "test/e2e" }

// measures says whether the room's tests measure times, or have real daemons wait for each other by
// parts of a second, so that nothing may run beside them.
func (k Test) measures() bool {
	return slices.Contains([]string{
		"cmd/onprem-supervise", "test/handover", "test/life", "test/podlb", "test/podvip",
	}, k.Room)
}

// asks says whether the test is one of those that are only run when they are asked for.
func (k Test) asks() bool { return k.boots() || strings.HasPrefix(k.Name, "TestLong") }

// group is what runs in one go without defects: a room's tests, but each that boots a machine or
// measures times alone.
func (k Test) group() string {
	if k.boots() || k.measures() {
		return k.Room + " " + k.Name
	}
	return k.Room
}

// replay has copies of the tree to put defects into.
type replay struct {
	copies chan string
	scars  []Scar
	clean  map[string]func() (result, error) // by group, once each
	boots  sync.Mutex                        // one machine at a time
	quiet  sync.RWMutex                      // to itself for what measures
}

// replay returns how long the test took to fail.
func (r *replay) replay(ctx context.Context, k Test, d Defect) (took time.Duration, err error) {
	if k.boots() {
		r.boots.Lock()
		defer r.boots.Unlock()
	}
	if k.measures() {
		r.quiet.Lock()
		defer r.quiet.Unlock()
	} else {
		r.quiet.RLock()
		defer r.quiet.RUnlock()
	}
	clean, err := r.clean[k.group()]()
	if err != nil {
		return 0, fmt.Errorf("without any defect: %w", err)
	}
	if outcome := clean.outcome[rewritten(k.Name)]; outcome != "pass" {
		return 0, fmt.Errorf("without any defect: %q, want pass\n%s", outcome, clean.output)
	}
	dir := <-r.copies
	defer func() { r.copies <- dir }()
	file, bad, err := d.Apply(dir)
	if err != nil {
		return 0, err
	}
	path := filepath.Join(dir, file)
	good, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(path, bad, info.Mode()); err != nil {
		return 0, err
	}
	start := time.Now()
	found, err := test(ctx, dir, k.Room, pattern(k.Name), limit(k.Room))
	took = time.Since(start)
	if err := errors.Join(err, os.WriteFile(path, good, info.Mode())); err != nil {
		return 0, err
	}
	switch found.outcome[rewritten(k.Name)] {
	case "fail":
		return took, nil
	case "":
		return 0, fmt.Errorf("the test did not run: with the defect %s must build\n%s", file, found.output)
	default:
		return 0, fmt.Errorf("the test passes with the defect in %s\n%s", file, found.output)
	}
}

// groupLimit is how long a group may take without defects, as long as in the suite.
const groupLimit = "20m"

// without runs the tests of a group in one go without a defect.
func (r *replay) without(ctx context.Context, one Test) (result, error) {
	var functions []string
	for _, s := range r.scars {
		if k := s.Tests[0]; k.group() == one.group() {
			function, _, _ := strings.Cut(k.Name, "/")
			functions = append(functions, function)
		}
	}
	dir := <-r.copies
	defer func() { r.copies <- dir }()
	slices.Sort(functions)
	run := "^(" + strings.Join(slices.Compact(functions), "|") + ")$"
	if one.boots() {
		run = pattern(one.Name) // one drill of many
	}
	return test(ctx, dir, one.Room, run, groupLimit)
}

// result is what a run of tests gave: the outcome of each, empty for one that has not begun, and
// the end of the output.
type result struct {
	outcome map[string]string
	output  string
}

// test runs tests of a package, within a limit as go test takes it.
func test(ctx context.Context, dir, room, run, limit string) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, 25*time.Minute)
	defer cancel()
	module, below := within(dir, room)
	cmd := exec.CommandContext(ctx, "go", "test", "-tags", "remote", "-vet", "off", "-count", "1",
		"-timeout", limit, "-json", "-run", run, "./"+below)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), need.Require+"=1", "CGO_ENABLED=0", asked+"=0")
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return result{}, fmt.Errorf("run go test: %w", err)
	}
	if ctx.Err() != nil {
		return result{}, fmt.Errorf("go test %s: %w", room, ctx.Err())
	}
	outcome := map[string]string{}
	var text strings.Builder
	for line := range bytes.Lines(printed.Bytes()) {
		var event struct{ Action, Test, Output string }
		if json.Unmarshal(line, &event) != nil {
			text.Write(line)
			continue
		}
		text.WriteString(event.Output)
		if event.Test != "" && slices.Contains([]string{"pass", "fail", "skip"}, event.Action) {
			outcome[event.Test] = event.Action
		}
	}
	const most = 4000
	output := text.String()
	return result{outcome, output[max(0, len(output)-most):]}, nil
}

// within returns the directory of the module that a room below dir is of, and the room's path below
// that: a program may be a module of its own.
func within(dir, room string) (module, below string) {
	for module = filepath.Join(dir, room); module != filepath.Clean(dir); module = filepath.Dir(module) {
		if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
			break
		}
	}
	below, _ = filepath.Rel(module, filepath.Join(dir, room)) // one is below the other
	return module, below
}

// limit is how long the tests of a room may take: one that hangs with a defect fails by it.
func limit(room string) string {
	switch {
	case (Test{Room: room}).boots():
		return "20m"
	case (Test{Room: room}).measures(), room == "test/envelopes": // where our image is built, twice
		return "6m"
	}
	return "3m"
}

// rewritten is a test's name as the test binary prints it.
func rewritten(name string) string { return strings.ReplaceAll(name, " ", "_") }

// pattern is the expression that only this test matches.
func pattern(name string) string {
	var levels []string
	for level := range strings.SplitSeq(rewritten(name), "/") {
		levels = append(levels, "^"+regexp.QuoteMeta(level)+"$")
	}
	return strings.Join(levels, "/")
}

// copyTree copies the module without what is built and what git keeps.
func copyTree(to string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		switch {
		case err != nil:
			return err
		case rel == "bin":
			return fs.SkipDir
		case rel == ".git" && entry.IsDir():
			return fs.SkipDir
		case rel == ".git":
			return nil
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !info.Mode().IsRegular():
			return fmt.Errorf("copy %s: it is no regular file", path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, info.Mode())
	})
}

// TestWithin holds that a room's tests run in the module that the room is of.
func TestWithin(t *testing.T) {
	for room, want := range map[string][2]string{
		"shared/vrrp":             {".", "shared/vrrp"},
		"cmd/onprem-coredns/mdns": {"cmd/onprem-coredns", "mdns"},
		"cmd/onprem-coredns":      {"cmd/onprem-coredns", "."},
	} {
		module, below := within(root, room)
		if module != filepath.Join(root, want[0]) || below != want[1] {
			t.Errorf("%s: %s of %s, want %q", room, below, module, want)
		}
	}
}
