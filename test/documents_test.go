package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// documents are all Markdown files by their path in the repository, with their text.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, "../"))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "bin" || len(name) > 2 && strings.HasPrefix(filepath.Base(name), ".")):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		all[name] = string(text)
		return err
	})
	if err != nil || len(all) < 10 {
		t.Fatalf("%d documents, %v", len(all), err)
	}
	return all
}

// pages are the documents for readers: neither the list of changes nor the table of defects.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := documents(t)
	delete(all, "CHANGELOG.md")
	delete(all, "test/scars/TABLE.md")
	return all
}

var (
	fenced    = regexp.MustCompile("(?ms)^```.*?^```$")
	indented  = regexp.MustCompile(`(?m)^    .*$`)
	codeSpan  = regexp.MustCompile("`[^`]*`")
	marked    = regexp.MustCompile(`(?s)<!-- \w+:[^>]*generated.*?<!-- end of \w+ -->`)
	mdLink    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^(#+) (.+)$`)
)

// prose is a document without its code.
func prose(text string) string {
	return codeSpan.ReplaceAllString(indented.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), "``")
}

// anchors are the names of a document's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range mdHeading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		all[anchor(m[2])] = true
	}
	return all
}

func anchor(heading string) string {
	plain := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(plain, " ", "-")
}

// TestReadmeLinks holds that each link of a document leads to a file of the repository, and to a
// heading that it has.
func TestReadmeLinks(t *testing.T) {
	all, n := documents(t), 0
	for name, text := range all {
		for _, m := range mdLink.FindAllStringSubmatch(prose(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			n++
			path, at, _ := strings.Cut(m[1], "#")
			file := filepath.ToSlash(filepath.Join(filepath.Dir(name), path))
			if path == "" {
				file = name
			}
			if _, err := os.Stat(filepath.Join("..", file)); err != nil {
				t.Errorf("%s: the link %s: %v", name, m[1], err)
			} else if at != "" && !anchors(all[file])[at] {
				t.Errorf("%s: the link %s: %s has no such heading", name, m[1], file)
			}
		}
	}
	if n < 50 {
		t.Errorf("%d links", n)
	}
}

// TestReadmeContents holds that a page of more than three sections has a list of them all, in their
// order, before the first one.
func TestReadmeContents(t *testing.T) {
	for name, text := range pages(t) {
		var want, have []string
		for _, m := range mdHeading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			if m[1] == "##" {
				want = append(want, "- ["+m[2]+"](#"+anchor(m[2])+")")
			}
		}
		head, _, _ := strings.Cut(text, "\n## ")
		for line := range strings.Lines(head) {
			if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "- [") {
				have = append(have, line)
			}
		}
		if (len(want) > 3 || len(have) > 0) && !slices.Equal(have, want) {
			t.Errorf("%s has the contents\n%s\nwant\n%s", name, strings.Join(have, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestReadmeWords holds the glossary in the prose of the pages, but for the parts that are made
// from the code.
func TestReadmeWords(t *testing.T) {
	word := regexp.MustCompile(`[A-Za-z]+`)
	for name, text := range pages(t) {
		for _, w := range word.FindAllString(prose(marked.ReplaceAllString(text, "")), -1) {
			if base := bannedWord(w); base != "" {
				t.Errorf("%s: %s: write %s", name, w, banned[base])
			}
		}
	}
}

// TestReadmeNames holds that each test, target of make and path of the repository that a page names
// is there.
func TestReadmeNames(t *testing.T) {
	tests, targets := testNames(t), makeTargets(t)
	path := regexp.MustCompile(`^(bootstrap|cluster|cmd|ignition|shared|test|units)(/[a-z0-9_.-]+)+$`)
	for name, text := range pages(t) {
		for _, span := range codeSpan.FindAllString(indented.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), -1) {
			span = strings.Trim(span, "`")
			first, rest, _ := strings.Cut(span, " ")
			switch {
			case strings.HasPrefix(span, "Test") && !tests[span] && !strings.Contains(span, "…"):
				t.Errorf("%s: there is no test %s", name, span)
			case first == "make" && !targets[strings.Fields(rest + " help")[0]]:
				t.Errorf("%s: there is no target %s", name, span)
			case path.MatchString(span):
				if _, err := os.Stat(filepath.Join("..", span)); err != nil {
					t.Errorf("%s: there is no %s", name, span)
				}
			}
		}
	}
}

// testNames are the names of all tests of the repository.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names, function := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// makeTargets are the targets of the Makefile that its help lists.
func makeTargets(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9]+):.*## `).FindAllStringSubmatch(string(text), -1) {
		targets[m[1]] = true
	}
	return targets
}

// TestDocuments_Profiles holds that a paragraph or a table which tells timing profiles apart, and so
// has the slowest one and the one before it, has all: one that was added later must not be missing.
func TestDocuments_Profiles(t *testing.T) {
	all := vrrp.Profiles()
	quoted := func(t vrrp.Timing) string { return "`" + t.Profile + "`" }
	last, before := quoted(all[len(all)-1]), quoted(all[len(all)-2])
	for name, text := range pages(t) {
		for block := range strings.SplitSeq(text, "\n\n") {
			if !strings.Contains(block, last) || !strings.Contains(block, before) {
				continue
			}
			for _, p := range all {
				if !strings.Contains(block, quoted(p)) {
					first, _, _ := strings.Cut(strings.TrimSpace(block), "\n")
					t.Errorf("%s: %s: add the timing profile %s", name, first, p.Profile)
				}
			}
		}
	}
}
