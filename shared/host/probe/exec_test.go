package probe

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestProbesStartNoProcess holds K-63: a curl each second for hours filled the kernel's memory with
// names that do not exist. A probe here is a request on a kept connection.
func TestProbesStartNoProcess(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range file.Imports {
			switch name, _ := strconv.Unquote(imported.Path.Value); name {
			case "os/exec", "syscall", "golang.org/x/sys/unix":
				t.Errorf("%s imports %s: a probe starts no process", path, name)
			}
		}
		read++
	}
	if read == 0 {
		t.Error("no file was read: the test shows nothing")
	}
}
