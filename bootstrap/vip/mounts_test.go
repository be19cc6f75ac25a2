package vip

import (
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestMountsOfWhatChanges holds P-07: a file that is replaced by a rename stays the old one in a
// container that has it bound by itself. So what is written while the container runs is bound by
// its directory, and a single file only where it cannot be written from inside.
func TestMountsOfWhatChanges(t *testing.T) {
	var directories []string
	for _, m := range Container(compile(t, dual)).Mounts {
		if m.Source == supervisor && m.ReadOnly {
			continue // the program that runs is the one it was started from
		}
		at := m.Source
		if at == keepalived.HostDir { // the image's own directory must not be hidden
			at = keepalived.Dir
		}
		if m.Target != at {
			t.Errorf("%s is %s inside, want %s", m.Source, m.Target, at)
		}
		directories = append(directories, m.Source)
	}
	if want := []string{keepalived.HostDir, supervised.RunDir}; !slices.Equal(directories, want) {
		t.Errorf("bound are %v, want the directories %v", directories, want)
	}
}

// TestOwnRun holds ND-06 on the bootstrap machine.
func TestOwnRun(t *testing.T) {
	if tmpfs := Container(compile(t, dual)).Tmpfs; !slices.Contains(tmpfs, "/run") {
		t.Errorf("keepalived has %q of its own, and no /run", tmpfs)
	}
}

// TestContainer_PatienceForTakeover holds that keepalived is asked to wait longer for who takes over, within
// what the room gives it, where all nodes tell it that they have: one of another make would have
// the VIP too for so long.
func TestContainer_PatienceForTakeover(t *testing.T) {
	for profile, want := range map[string]bool{vrrp.ProfileLan: true, vrrp.ProfileVM: true, vrrp.ProfileCompat: false} {
		command := Container(compile(t, func(c *spec.Cluster) { c.Timing = profile })).Command
		if i := slices.Index(command, "--patience"); want != (i >= 0) || want && (command[i+1] != "5s" || handoverBound <= vrrp.Standing) {
			t.Errorf("%s: it runs %q", profile, command)
		}
	}
}

// TestLeavesAtOnce holds that the bootstrap machine's keepalived does not wait for anybody when it
// is to end: the room has had it yield before, where there is somebody to yield to, and the machine
// may be on its way down.
func TestLeavesAtOnce(t *testing.T) {
	if command := Container(compile(t, dual)).Command; slices.Contains(command, "--yield-on-term") {
		t.Errorf("it runs %q", command)
	}
}
