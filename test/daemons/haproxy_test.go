package daemons

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// checked asks HAProxy about a configuration. The CA that it names is this machine's own.
func checked(t *testing.T, config []byte) (code int, output string) {
	t.Helper()
	const bundle = "/etc/ssl/certs/ca-certificates.crt"
	need.File(t, bundle)
	config = regexp.MustCompile(`/etc/haproxy/ca-\w+\.crt`).ReplaceAll(config, []byte(bundle))
	dir := t.TempDir()
	config = bytes.ReplaceAll(config, []byte("/run/onprem-infra/haproxy"), []byte(dir))
	err := os.WriteFile(filepath.Join(dir, "servers.state"), []byte("1\n"), 0o600)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "haproxy.cfg"), config, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), need.Command(t, "haproxy"), "-c", "-f", filepath.Join(dir, "haproxy.cfg"))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run haproxy: %v", err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestHAProxyAcceptsGoldens also wants no warning: what HAProxy warns of it does otherwise than it
// was told.
func TestHAProxyAcceptsGoldens(t *testing.T) {
	for _, path := range goldens(t, "cluster/haproxy") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			config, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if code, output := checked(t, config); code != 0 || bytes.Contains([]byte(output), []byte("WARNING")) {
				t.Errorf("exit %d:\n%s", code, output)
			}
		})
	}
}

func TestHAProxyRefuses(t *testing.T) {
	good, err := os.ReadFile(goldens(t, "cluster/haproxy")[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, defect := range map[string][2]string{
		"a server without an address": {"server s0 192.0.2.10:6443", "server s0"},
		"a port without a number":     {"bind :::9444", "bind :::"},
		"an unknown word":             {"option httpchk", "option httpcheck"},
	} {
		bad := bytes.Replace(good, []byte(defect[0]), []byte(defect[1]), 1)
		if bytes.Equal(bad, good) {
			t.Fatalf("%s: the defect is not in", name)
		}
		if code, output := checked(t, bad); code == 0 {
			t.Errorf("%s is accepted:\n%s", name, output)
		}
	}
}
