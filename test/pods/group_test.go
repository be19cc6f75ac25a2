package pods

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestGroupsOfADeadOwner leaves the control groups of a container whose owner has exited, and of
// one whose owner runs.
func TestGroupsOfADeadOwner(t *testing.T) {
	need.Root(t)
	trees, err := filepath.Glob(groups + "/*/cgroup.procs")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(groups + "/cgroup.procs"); err == nil {
		trees = []string{groups + "/cgroup.procs"}
	}
	if len(trees) == 0 {
		need.Missing(t, "needs control groups")
	}
	ours, err := unique("kept")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(ours, ".")
	parts[1] = "4194305" // more than any process has
	left := strings.Join(parts, ".")
	for _, tree := range trees {
		for _, name := range []string{ours, left} {
			path := filepath.Join(filepath.Dir(tree), name)
			if err := os.MkdirAll(path+"/below", 0o755); err != nil {
				need.Missing(t, "needs to make control groups: "+err.Error())
			}
			t.Cleanup(func() { _ = removeGroup(path) })
		}
	}
	if err := removeLeftovers(); err != nil {
		t.Fatal(err)
	}
	for _, tree := range trees {
		if _, err := os.Stat(filepath.Join(filepath.Dir(tree), left)); err == nil {
			t.Errorf("%s is still in %s", left, filepath.Dir(tree))
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(tree), ours)); err != nil {
			t.Errorf("the group of a living owner is gone: %v", err)
		}
	}
}
