// Package golden compares what a test made with what stands in its package's testdata, and asks
// whether anything there would notice a loss.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Check compares got with testdata/NAME.golden of the package under test. NAME is the test's, with
// a dash before a subtest's: TestRender-ipv4.
func Check(t testing.TB, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", strings.ReplaceAll(t.Name(), "/", "-")+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// EachLineCounts deletes each line of a template in turn: a line whose loss changes what becomes of
// no data is dead or unwatched.
func EachLineCounts(t testing.TB, text string, data ...any) {
	t.Helper()
	whole, err := executed(text, data)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if line == "" {
			continue
		}
		shorter := strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "")
		if got, err := executed(shorter, data); err == nil && slices.Equal(got, whole) {
			t.Errorf("without line %d nothing changes: %q", i+1, line)
		}
	}
}

// executed is what a template makes of each of the data.
func executed(text string, data []any) ([]string, error) {
	tmpl, err := template.New("").Parse(text)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, d := range data {
		var out strings.Builder
		if err := tmpl.Execute(&out, d); err != nil {
			return nil, err
		}
		all = append(all, out.String())
	}
	return all, nil
}
