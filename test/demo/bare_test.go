package main

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/qemuhost"
)

// TestAnnounce has the script decide as the program does whether a bare machine is installed, and
// name the same command where it is not.
func TestAnnounce(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "test/demo/announce")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	why := qemuhost.KVM()
	if announced := strings.Contains(string(out), "  install a bare machine "); announced != (why == nil) {
		t.Errorf("announced: %v, and the program finds %v:\n%s", announced, why, out)
	}
	if named := strings.Contains(string(out), elsewhere); named != (why != nil) {
		t.Errorf("the command %s is named: %v, and the program finds %v:\n%s", elsewhere, named, why, out)
	}
	if why == nil {
		return // the scene takes minutes
	}
	saw, err := (&show{}).install(context.Background())
	if text := strings.Join(saw, "\n"); err != nil || !strings.Contains(text, why.Error()) || !strings.Contains(text, elsewhere) {
		t.Errorf("the scene shows %q, %v", text, err)
	}
}
