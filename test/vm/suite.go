package vm

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Suites are the releases of Debian that a machine may have, the oldest first: 12 and 13.
var Suites = []string{"bookworm", "trixie"}

// SuiteVariable is the environment variable that gives machines another release than this
// machine's.
const SuiteVariable = "ONPREM_INFRA_SUITE"

// Suite is the release of the machines: that which the environment names, or else this machine's
// own.
func Suite() (string, error) {
	suite := os.Getenv(SuiteVariable)
	if suite == "" {
		text, err := os.ReadFile("/etc/os-release")
		if err != nil {
			return "", err
		}
		suite = codename(string(text))
	}
	if !slices.Contains(Suites, suite) {
		return "", fmt.Errorf("release %q: no machine is made of it: set %s to one of %s",
			suite, SuiteVariable, strings.Join(Suites, ", "))
	}
	return suite, nil
}

// codename is what os-release(5) calls the release, in lower case and without quotes on Debian.
func codename(release string) string {
	for line := range strings.Lines(release) {
		if name, ok := strings.CutPrefix(line, "VERSION_CODENAME="); ok {
			return strings.Trim(strings.TrimSpace(name), `"`)
		}
	}
	return ""
}
