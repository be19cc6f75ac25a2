package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// everywhere are programs of every Debian, which may not be without them, and those that the README
// asks for.
var everywhere = []string{"sh", "bash", "cp", "tar", "sleep", "true", "unshare", "nsenter", "chroot", "apt-get", "go", "make", "git", "mv", "nice", "script"}

// withOthers are programs that come with a package which is installed for another one.
var withOthers = map[string]string{"ignition-validate": "ignition", "systemctl": "systemd", "ss": "iproute2", "python3": "python3-sushy"}

// TestSetupNamesEveryProgram holds that test/setup installs each program that the tests run on this
// machine.
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

// TestSetupKnowsItsReleases runs test/setup with one package missing, on hosts that call themselves
// this and that. FAKE are apt-get, id and the file that says which release it is.
func TestSetupKnowsItsReleases(t *testing.T) {
	text, err := os.ReadFile("setup")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)needs='.*?'`)
	for _, tt := range []struct {
		release, user string
		installs      bool
	}{
		{"ID=debian\nVERSION_ID=\"12\"\n", "0", true},
		{"ID=debian\nVERSION_ID=\"13\"\n", "0", true},
		{"ID=debian\nVERSION_ID=\"13\"\n", "1000", false},
		{"ID=debian\nVERSION_ID=\"11\"\n", "0", false},
		{"ID=ubuntu\nVERSION_ID=\"24.04\"\n", "0", false},
	} {
		dir := t.TempDir()
		script := list.ReplaceAllString(string(text), "needs='none:there-is-no-such-program'")
		script = strings.ReplaceAll(script, "/etc/os-release", dir+"/os-release")
		script = strings.ReplaceAll(script, "/usr/sbin/policy-rc.d", dir+"/policy-rc.d")
		for name, text := range map[string]string{
			"os-release": tt.release, "id": "#!/bin/sh\necho " + tt.user + "\n",
			"apt-get": "#!/bin/sh\necho \"apt-get $*\"; test -x " + dir + "/policy-rc.d\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
		cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		output := string(out)
		if installs := err == nil && strings.Contains(output, "apt-get install") && strings.Contains(output, " none\n"); installs != tt.installs {
			t.Errorf("%q, user %s: installs: %v, want %v\n%s", tt.release, tt.user, installs, tt.installs, output)
		}
		if !tt.installs && (!strings.Contains(output, "only on Debian 12 or 13 and as root") || strings.Contains(output, "apt-get")) {
			t.Errorf("%q, user %s: it says\n%s", tt.release, tt.user, output)
		}
		if _, err := os.Stat(filepath.Join(dir, "policy-rc.d")); err == nil {
			t.Error("it leaves its policy-rc.d behind")
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
