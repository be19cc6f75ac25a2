package test

import (
	"flag"
	"fmt"
	"go/doc"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated parts of README.md")

const (
	roomsBegin = "<!-- rooms: generated from the package comments by `go test ./test -run Readme -update` -->\n"
	roomsEnd   = "<!-- end of rooms -->\n"
)

// roomMap is the table of rooms: each package with the first sentence of its comment.
func roomMap(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| Room | What lives there |\n|---|---|\n")
	for _, p := range rooms(t) {
		_, files := source(t, p)
		for _, f := range files {
			if f.Doc == nil {
				continue
			}
			sentence := strings.TrimSuffix(new(doc.Package).Synopsis(f.Doc.Text()), ".")
			sentence = regexp.MustCompile(`^(Package|Command) \S+ `).ReplaceAllString(sentence, "")
			fmt.Fprintf(&b, "| `%s` | %s |\n", p.room(), strings.ReplaceAll(sentence, "|", `\|`))
		}
	}
	return b.String()
}

func TestReadmeRooms(t *testing.T) {
	path := filepath.Join("..", "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), roomsBegin)
	have, tail, ok2 := strings.Cut(rest, roomsEnd)
	if !ok || !ok2 {
		t.Fatal("README.md has no room map between its markers")
	}
	want := roomMap(t)
	if have == want {
		return
	}
	if !*update {
		t.Fatal("README.md: the room map is not that of the package comments; run go test ./test -run Readme -update")
	}
	if err := os.WriteFile(path, []byte(head+roomsBegin+want+roomsEnd+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReadmeDependencies holds that every direct dependency has its line on why it is there, and no line outlives its dependency.
func TestReadmeDependencies(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var direct []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1) {
		direct = append(direct, m[1])
	}
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Dependencies\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var told []string
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+)`: .{20,}").FindAllStringSubmatch(section, -1) {
		told = append(told, m[1])
	}
	slices.Sort(direct)
	slices.Sort(told)
	if !slices.Equal(direct, told) {
		t.Errorf("README.md explains the dependencies\n%s\ngo.mod requires directly\n%s", strings.Join(told, "\n"), strings.Join(direct, "\n"))
	}
}
