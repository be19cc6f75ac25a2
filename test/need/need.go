// Package need skips a test without its privilege or daemon, or fails it with
// ONPREM_INFRA_REQUIRE=1, as "make test" sets.
package need

import (
	"os"
	"os/exec"
	"testing"
)

// Require is the environment variable that turns every skip into a failure when its value is "1".
const Require = "ONPREM_INFRA_REQUIRE"

// Root needs the effective user to be root.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Missing(t, "needs root")
	}
}

// Command needs a program and returns its path. Debian's daemons are in directories that a user's
// PATH may lack.
func Command(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range []string{"/usr/local/sbin/", "/usr/sbin/", "/sbin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			return path
		}
	}
	Missing(t, "needs the program "+name)
	return ""
}

// File needs a file or directory that exists.
func File(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		Missing(t, "needs "+path)
	}
}

// Missing skips or fails the test because the host lacks something.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(Require) == "1" {
		t.Fatalf("%s, and %s=1 forbids a skip", what, Require)
	}
	t.Skipf("%s (%s=1 makes this a failure)", what, Require)
}
