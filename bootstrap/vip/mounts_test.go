package vip

import (
	"path"
	"slices"
	"testing"
)

// TestMountsOfWhatChanges holds P-07: a file that is replaced by a rename stays the old one in a container that has it bound by itself. So what
// is written while the container runs is bound by its directory, and a single file only where it cannot be written from inside.
func TestMountsOfWhatChanges(t *testing.T) {
	var directories []string
	for _, m := range Container(compile(t, dual)).Mounts {
		if m.Source == supervisor && m.ReadOnly {
			continue // the program that runs is the one it was started from
		}
		if m.Source != m.Target {
			t.Errorf("%s is %s inside: both sides write the same path into configuration", m.Source, m.Target)
		}
		directories = append(directories, m.Source)
	}
	if want := []string{path.Dir(Config), RunDir}; !slices.Equal(directories, want) {
		t.Errorf("bound are %v, want the directories %v", directories, want)
	}
}

// TestLeavesAtOnce holds that the bootstrap machine's keepalived does not wait for anybody when it is to end: the room has had it yield before, where
// there is somebody to yield to, and the machine may be on its way down.
func TestLeavesAtOnce(t *testing.T) {
	if command := Container(compile(t, dual)).Command; slices.Contains(command, "--yield-on-term") {
		t.Errorf("it runs %q", command)
	}
}
