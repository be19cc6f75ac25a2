package envelopes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// validate returns what Ignition's own validator says of a document.
func validate(t *testing.T, document string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), need.Command(t, "ignition-validate"), "-")
	cmd.Stdin = strings.NewReader(document)
	return output(cmd)
}

func TestIgnitionValidate(t *testing.T) {
	need.Command(t, "ignition-validate")
	refs := images(t)
	for _, args := range examples() {
		t.Run(strings.Join(args[1:], " "), func(t *testing.T) {
			input, hosts := ours(t, "", args...), roles("")
			if args[1] == "cluster" {
				input, hosts = strings.Replace(input, "topology: HighlyAvailable", "topology: HighlyAvailableArbiter", 1), role.All()
			}
			for _, r := range hosts {
				if verdict := validate(t, ours(t, input, "ignition", "--role="+string(r), "-c", "-", "--images", refs)); verdict != "" {
					t.Errorf("%s: ignition-validate: %s", r, verdict)
				}
			}
		})
	}
	eachHost(t, func(t *testing.T, input string, r role.Role) {
		if verdict := validate(t, ours(t, input, "ignition", "--role="+string(r), "-c", "-", "--images", refs)); verdict != "" {
			t.Errorf("ignition-validate: %s", verdict)
		}
	})
}

// TestIgnitionValidate_Refuses proves that the judge is awake.
func TestIgnitionValidate_Refuses(t *testing.T) {
	for name, document := range map[string]string{
		"a path that is not absolute": `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"etc/a"}]}}`,
		"a warning":                   `{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"a.service","enabled":true,"contents":"[Service]\nExecStart=/bin/true\n"}]}}`,
		"cut off":                     `{"ignition":{"version":"3.2.0"}`,
	} {
		if verdict := validate(t, document); verdict == "" {
			t.Errorf("%s: ignition-validate has nothing to say", name)
		}
	}
}

// TestIgnitionAlone runs the verb where there is no network at all, and holds its time: the
// processor's, as a wall clock depends on what else the machine does. Both are logged.
func TestIgnitionAlone(t *testing.T) {
	need.Root(t)
	config := filepath.Join(t.TempDir(), "install-config.yaml")
	if err := os.WriteFile(config, []byte(ours(t, "", "example", "install-config")), 0o644); err != nil {
		t.Fatal(err)
	}
	refs := images(t)
	var wall, cpu []time.Duration
	for range 20 {
		cmd := exec.CommandContext(t.Context(), program(t), "ignition", "--role=bootstrap", "-c", config, "--images", refs)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		start := time.Now()
		out, err := cmd.Output()
		wall = append(wall, time.Since(start))
		if err != nil || len(out) == 0 {
			t.Fatalf("without a network: %v", err)
		}
		cpu = append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	slices.Sort(wall)
	slices.Sort(cpu)
	t.Logf("median of %d runs: %v wall, %v processor", len(wall), wall[len(wall)/2], cpu[len(cpu)/2])
	if median := cpu[len(cpu)/2]; median > 50*time.Millisecond {
		t.Errorf("the median run takes %v of the processor, want 50ms", median)
	}
}
