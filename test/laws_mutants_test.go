package test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// counted are the rooms of which the mutation score has every room below: what users write, what
// follows from it, and what hosts announce.
var counted = []string{"shared/spec/...", "shared/plan/...", "shared/bgp/...", "shared/speak"}

// TestLawsMutants holds that the mutation score counts every room of input, plan and BGP, also one
// that was made since, and that what it names is there.
func TestLawsMutants(t *testing.T) {
	cmd := exec.Command(need.Command(t, "make"), "-s", "--no-print-directory", "--eval", "pure: ; @echo $(PURE)", "pure")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("read PURE of the Makefile: %v", err)
	}
	pure := strings.Fields(string(out))
	var all []string
	for _, p := range rooms(t) {
		all = append(all, p.room())
	}
	for _, pattern := range pure {
		if !slices.ContainsFunc(all, func(room string) bool { return matches(room, pattern) }) {
			t.Errorf("PURE of the Makefile has %s, and there is no such room", pattern)
		}
	}
	for _, room := range all {
		in := func(pattern string) bool { return matches(room, pattern) }
		if slices.ContainsFunc(counted, in) && !slices.ContainsFunc(pure, in) {
			t.Errorf("the mutation score leaves %s out: add it to PURE of the Makefile", room)
		}
	}
}

// matches reports whether a room is one of a pattern as `go list` has it.
func matches(room, pattern string) bool {
	above, below := strings.CutSuffix(pattern, "/...")
	return room == above || below && strings.HasPrefix(room, above+"/")
}
