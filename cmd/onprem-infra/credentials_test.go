//go:build remote

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCredentials_None holds that a host without an account of its BMC is an error before anything is
// made of it.
func TestCredentials_None(t *testing.T) {
	dir, configs, flags := provisionedInputs(t)
	text := strings.Replace(plantedCluster, ", credentials: {file: bmc.yaml}", "", 1)
	if err := os.WriteFile(filepath.Join(dir, "cluster.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := configs[1] + ":16:10: error: spec.hosts[0].bmc.credentials.file: is missing: write the path of a file with username and password\n"
	for _, args := range [][]string{{"validate", "-c", configs[1]}, {"hosts", "-c", configs[1]}, append([]string{"ignition", "-c", configs[1]}, flags...)} {
		if o := invoke(t, "", args...); !strings.Contains(o.out+o.err, want) || o.code != 1 {
			t.Errorf("%s: exit %d:\n%swant 1:\n%s", args[0], o.code, o.out+o.err, want)
		}
	}
	for _, args := range [][]string{{"plan", "-c", configs[1]}, {"ignition", "--role=worker", flags[1], flags[2], "-c", configs[1]}} {
		if o := invoke(t, "", args...); o.code != 0 {
			t.Errorf("%s needs no account: exit %d:\n%s", args[0], o.code, o.err)
		}
	}
}

// TestCredentials_CA holds what validate and ignition report of the certificates that a cluster.yaml
// names.
func TestCredentials_CA(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"missing":    {"", "there is no file DIR/ca.pem: write certificates in PEM into it"},
		"none":       {"Pl4ntedS3cret\n", "DIR/ca.pem is no certificate in PEM: write one that begins with -----BEGIN CERTIFICATE-----"},
		"unreadable": {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "DIR/ca.pem has a certificate that cannot be read: write it again, from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, configs, flags := provisionedInputs(t)
			files := map[string]string{"cluster.yaml": strings.Replace(plantedCluster, "{network: managed}", "{network: managed, bmcCA: ca.pem}", 1)}
			if tt.text != "" {
				files["ca.pem"] = tt.text
			}
			for file, text := range files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want := "DIR/cluster.yaml:11:43: error: spec.provisioning.bmcCA: " + tt.want + "\n"
			for _, args := range [][]string{{"validate", "-c", configs[1]}, {"hosts", "-c", configs[1]}, append([]string{"ignition", "-c", configs[1]}, flags...)} {
				o := invoke(t, "", args...)
				if got := strings.ReplaceAll(o.out+o.err, dir, "DIR"); !strings.Contains(got, want) || o.code != 1 || strings.Contains(got, planted) {
					t.Errorf("%s: exit %d:\n%swant 1:\n%s", args[0], o.code, got, want)
				}
			}
		})
	}
}

// TestCredentials holds what validate reports of the files that a cluster.yaml names, and that it
// repeats nothing of them.
func TestCredentials(t *testing.T) {
	for name, tt := range map[string]struct {
		text string // of the file; empty: there is none
		mode os.FileMode
		want string // DIR stands for the directory
		code int
	}{
		"right":            {"username: Pl4ntedS3cret\npassword: Pl4ntedS3cret\n", 0o600, "", 0},
		"missing":          {"", 0, "DIR/cluster.yaml:16:80: error: spec.hosts[0].bmc.credentials.file: there is no file DIR/bmc.yaml: write username: and password: into it\n", 1},
		"others read it":   {"username: Pl4ntedS3cret\npassword: Pl4ntedS3cret\n", 0o644, "DIR/cluster.yaml:16:80: warning: spec.hosts[0].bmc.credentials.file: others can read DIR/bmc.yaml: run chmod 600 DIR/bmc.yaml\n", 0},
		"empty password":   {"username: Pl4ntedS3cret\npassword: ''\n", 0o600, "DIR/bmc.yaml:2:11: error: password: is empty: write the text\n", 1},
		"no password":      {"username: Pl4ntedS3cret\n", 0o600, "DIR/bmc.yaml:1:1: error: password: is missing: write password: and the text\n", 1},
		"another field":    {"username: a\npassword: b\nPl4ntedS3cret: Pl4ntedS3cret\n", 0o600, "DIR/bmc.yaml:3:1: error: document: has a field beside username and password: remove it\n", 1},
		"a number":         {"username: a\npassword: 12345678\n", 0o600, "DIR/bmc.yaml:2:11: error: password: want a string, got another value: put it in quotes\n", 1},
		"no map":           {"Pl4ntedS3cret\n", 0o600, "DIR/bmc.yaml:1:1: error: document: want a map, got a string: write a map here\n", 1},
		"no YAML":          {"password: @Pl4ntedS3cret\n", 0o600, "DIR/bmc.yaml:1:1: error: document: is not YAML here: found character that cannot start any token: fix this line or the one before it, and put text with special characters in quotes\n", 1},
		"a file of others": {"\x00Pl4ntedS3cret", 0o600, "DIR/bmc.yaml:1:1: error: document: holds a byte that is not text in UTF-8: save the file as UTF-8 without control characters\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cluster := filepath.Join(dir, "cluster.yaml")
			if err := os.WriteFile(cluster, []byte(plantedCluster), 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.text != "" {
				if err := os.WriteFile(filepath.Join(dir, "bmc.yaml"), []byte(tt.text), tt.mode); err != nil {
					t.Fatal(err)
				}
			}
			o := invoke(t, "", "validate", "-c", cluster)
			if got := strings.ReplaceAll(o.out+o.err, dir, "DIR"); got != tt.want || o.code != tt.code {
				t.Errorf("exit %d:\n%swant %d:\n%s", o.code, got, tt.code, tt.want)
			}
		})
	}
}
