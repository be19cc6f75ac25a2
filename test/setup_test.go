package test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// everywhere are programs of every Debian 12, which may not be without them, and those that the README asks for.
var everywhere = []string{"sh", "bash", "sleep", "true", "unshare", "nsenter", "ldd", "apt-get", "go", "make", "git", "mv", "nice", "script"}

// withOthers are programs that come with a package which is installed for another one.
var withOthers = map[string]string{"ignition-validate": "ignition", "systemctl": "systemd", "ss": "iproute2"}

// TestSetupNamesEveryProgram holds that test/setup installs each program that the tests run on this machine.
func TestSetupNamesEveryProgram(t *testing.T) {
	setup, err := os.ReadFile("setup")
	if err != nil {
		t.Fatal(err)
	}
	var packages, programs []string
	for line := range strings.Lines(string(setup)) {
		if name, program, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && !strings.ContainsAny(line, " \"$") {
			packages, programs = append(packages, name), append(programs, filepath.Base(program))
		}
	}
	if len(programs) < 10 {
		t.Fatalf("test/setup names %v", programs)
	}
	for name, file := range commands(t) {
		if !slices.Contains(programs, name) && !slices.Contains(everywhere, name) && !slices.Contains(packages, withOthers[name]) {
			t.Errorf("%s runs %s: test/setup must name it with its package, or everywhere must say that each machine has it", file, name)
		}
	}
}

// commands are the programs that Go files run on this machine, each with a file that does.
func commands(t *testing.T) map[string]string {
	t.Helper()
	run := regexp.MustCompile(`(?:need\.Command\(\w+, |exec\.Command\(|exec\.CommandContext\([^,]+, |(?i:host|neighbour|bootstrap)\.Command\([^,]+, |h\.do\([^,]+, )"([^"]+)"`)
	found := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || filepath.Base(path) == "setup_test.go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range run.FindAllStringSubmatch(string(text), -1) {
			found[filepath.Base(match[1])] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
