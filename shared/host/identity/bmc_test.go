package identity

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
)

// TestBMCs holds that BMCs are verified by what the description names, or else by what this machine
// trusts, and that a file which cannot be read changes nothing.
func TestBMCs(t *testing.T) {
	dir := t.TempDir()
	hosts, to := filepath.Join(dir, "hosts.json"), filepath.Join(dir, "ca.crt")
	own := filepath.Join(dir, "bundle")
	before := bundles
	bundles = []string{filepath.Join(dir, "none"), own}
	t.Cleanup(func() { bundles = before })
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(own, "of the machine")
	b := &BMCs{Hosts: hosts}
	expect := func(want string, fails bool) {
		t.Helper()
		err := b.Write(to)
		if got, _ := os.ReadFile(to); string(got) != want || (err != nil) != fails {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	expect("", true)
	write(hosts, string(hostfile.Encode(hostfile.File{CA: "of the user"})))
	expect("of the user", false)
	if err := os.Remove(to); err != nil {
		t.Fatal(err)
	}
	expect("of the user", false)
	write(hosts, "{")
	expect("of the user", true)
	write(hosts, string(hostfile.Encode(hostfile.File{})))
	expect("of the machine", false)
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	b = &BMCs{Hosts: hosts}
	expect("", false)
}
