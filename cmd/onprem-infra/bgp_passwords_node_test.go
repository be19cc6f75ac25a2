package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// TestBGPPasswords_Nodes holds that each node gets the passwords in one file for its owner, keeps that
// file without the flag, and that neither render nor diff prints a password.
func TestBGPPasswords_Nodes(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cluster, good := put("cluster.yaml", announced), put("good", "10.1.1.1 s3cret\n")
	for _, role := range []string{"master", "worker"} {
		t.Run(role, func(t *testing.T) {
			tree := filepath.Join(dir, role)
			call := func(code int, want string, args ...string) {
				t.Helper()
				got := invoke(t, "", args...)
				if got.code != code || strings.Contains(got.out+got.err, "s3cret") || !strings.Contains(got.out+got.err, want) {
					t.Errorf("%v: %+v, want %d, %q", args, got, code, want)
				}
			}
			holds := func(want string) {
				t.Helper()
				path := filepath.Join(tree, spoken.PasswordsFile)
				text, err := os.ReadFile(path)
				info, errStat := os.Stat(path)
				if err != nil || errStat != nil || string(text) != want || info.Mode().Perm() != 0o600 {
					t.Errorf("%q, %v, %v", text, err, info)
				}
			}
			render := []string{"render", "--role=" + role, "-c", cluster, "--out", tree}
			call(0, "", render...)
			if _, err := os.Stat(filepath.Join(tree, spoken.PasswordsFile)); err == nil {
				t.Error("a file of no passwords is written")
			}
			call(0, "", append(render, "--bgp-passwords", good)...)
			holds("10.1.1.1 s3cret\n")
			call(0, "", render...)
			holds("10.1.1.1 s3cret\n")
			diff := []string{"diff", "--role=" + role, "-c", cluster, "--root", tree}
			call(0, "", diff...)
			call(0, "", append(diff, "--bgp-passwords", good)...)
			call(1, spoken.PasswordsFile, append(diff, "--bgp-passwords", put("other", "10.1.1.1 s3cret2\n"))...)
			call(1, "no rack of bgp.racks has a router 10.1.1.9", append(diff, "--bgp-passwords", put("unknown", "10.1.1.9 s3cret\n"))...)
			if err := os.WriteFile(filepath.Join(tree, spoken.PasswordsFile), []byte("10.1.1.9 s3cret\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			call(1, "no rack of bgp.racks has a router 10.1.1.9", render...)
			call(1, spoken.PasswordsFile, "diff", "--role="+role, "-c", cluster, "--root", tree)
			call(0, "", append(render, "--bgp-passwords", good)...)
			holds("10.1.1.1 s3cret\n")
		})
	}
	open := put("open", "10.1.1.1 s3cret\n")
	if err := os.Chmod(open, 0o640); err != nil {
		t.Fatal(err)
	}
	args := []string{"render", "--role=master", "-c", cluster, "--bgp-passwords", open, "--out", filepath.Join(dir, "m")}
	if got := invoke(t, "", args...); got.code != 0 || !strings.Contains(got.err, "warning: --bgp-passwords: others than its owner may use the file, of mode 0640: run chmod 600 "+open) {
		t.Errorf("%+v", got)
	}
	if got := invoke(t, "", append(args, "--strict")...); got.code != 1 || !strings.Contains(got.err, "error: --bgp-passwords") {
		t.Errorf("%+v", got)
	}
	if got := invoke(t, "", append(args, "--strict", "--bgp-passwords", good)...); got.code != 0 || strings.Contains(got.err, bgpPasswords) {
		t.Errorf("%+v", got)
	}
	if got := invoke(t, "", "render", "--role=cluster", "-c", cluster, "--bgp-passwords", good, "--out", filepath.Join(dir, "c")); got.code != 2 || !strings.Contains(got.err, "role of a host") {
		t.Errorf("%+v", got)
	}
}
