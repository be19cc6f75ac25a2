package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// exampleFilesIn writes an install-config and its images into a new directory and returns their
// paths.
func exampleFilesIn(t *testing.T) (config, images string) {
	t.Helper()
	dir := t.TempDir()
	config, images = filepath.Join(dir, "install-config.yaml"), filepath.Join(dir, "images.json")
	for path, text := range map[string]string{config: must(t, "", "example", "install-config"), images: must(t, "", "example", "images")} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return config, images
}

// TestAssetsUsage holds the exit codes of both verbs, and that a verb that fails leaves its output
// as it was.
func TestAssetsUsage(t *testing.T) {
	config, images := exampleFilesIn(t)
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("apiVersion: v1\nplatform: 5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		code int
		want string // on standard error
	}{
		{"no role", []string{"-c", config, "--images", images}, 2, "--role is missing: name one of bootstrap, master, worker, arbiter"},
		{"a role that does not exist", []string{"--role=king", "-c", config, "--images", images}, 2, `role "king" is not one of: bootstrap, master, worker, arbiter`},
		{"a role that the cluster does not have", []string{"--role=arbiter", "-c", config, "--images", images}, 1, "no node of the cluster is an arbiter: its topology is HighlyAvailable"},
		{"missing images of a node", []string{"--role=control-plane", "-c", config}, 1, "the master needs images.baremetalRuntimeCfgImage, images.keepalivedImage, images.haproxyImage, images.corednsImage"},
		{"no cluster", []string{"--role=bootstrap", "--images", images}, 2, "-c FILE is missing"},
		{"an argument", []string{"--role=bootstrap", "-c", config, "more"}, 2, "more"},
		{"a flag that does not exist", []string{"--role=bootstrap", "-c", config, "--color"}, 2, "unknown flag: --color"},
		{"findings", []string{"--role=bootstrap", "-c", bad, "--images", images}, 1, "bad.yaml:2:11: error: platform"},
		{"missing images", []string{"--role=bootstrap", "-c", config}, 1, "the bootstrap needs images.baremetalRuntimeCfgImage, images.keepalivedImage, images.corednsImage"},
		{"an absent file", []string{"--role=bootstrap", "-c", config + "x", "--images", images}, 2, "there is no file"},
	}
	for verb, flag := range map[string]string{"ignition": "--out", "render": "--out"} {
		for _, tt := range tests {
			t.Run(verb+" "+tt.name, func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "out")
				o := invoke(t, "", append([]string{verb, flag, out}, tt.args...)...)
				if o.code != tt.code || !strings.Contains(o.err, tt.want) || o.out != "" {
					t.Errorf("exit %d, said %q and on standard output %q; want %d, %q", o.code, o.err, o.out, tt.code, tt.want)
				}
				if _, err := os.Lstat(out); !os.IsNotExist(err) {
					t.Errorf("wrote its output: %v", err)
				}
			})
		}
	}
}

func TestIgnition(t *testing.T) {
	config, images := exampleFilesIn(t)
	args := []string{"ignition", "--role=bootstrap", "-c", config, "--images", images}
	document := must(t, "", args...)
	if !json.Valid([]byte(document)) || !strings.HasSuffix(document, "}\n") {
		t.Errorf("no JSON: %q", document)
	}
	if again := must(t, "", append(args, "--format=ignition", "--spec-version=3.2.0", "--out", "-")...); again != document {
		t.Error("the defaults said aloud give another document")
	}
	out := filepath.Join(t.TempDir(), "bootstrap.ign")
	if output := must(t, "", append(args, "--out", out)...); output != "" {
		t.Errorf("--out FILE printed %q", output)
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != document {
		t.Errorf("--out FILE wrote another document (%v)", err)
	}
	for _, wrong := range []string{"--format=yaml", "--format=", "--format=machineconfig", "--spec-version=3.5.0", "--spec-version=3.2"} {
		if o := invoke(t, "", append(args, wrong)...); o.code != 2 || o.out != "" {
			t.Errorf("%s: exit %d, %q", wrong, o.code, o.out)
		}
	}
}

// TestIgnitionForms holds what of each form its reader goes by; package ignition has the judges.
// The bootstrap machine is none of the operator's.
func TestIgnitionForms(t *testing.T) {
	config, images := exampleFilesIn(t)
	for form, want := range map[string]string{"machineconfig": "\n  name: 99-master-onprem-infra\n", "butane": "variant: fcos\nversion: 1.3.0\n"} {
		text := must(t, "", "ignition", "--role=control-plane", "-c", config, "--images", images, "--format="+form)
		if !strings.Contains(text, want) || !strings.Contains(text, "path: /etc/onprem-infra/cluster.json\n") {
			t.Errorf("--format=%s:\n%s", form, text)
		}
	}
	o := invoke(t, "", "ignition", "--role=bootstrap", "-c", config, "--images", images, "--format=machineconfig")
	if o.code != 2 || o.out != "" || !strings.Contains(o.err, "has no pool for role bootstrap") {
		t.Errorf("exit %d, %q", o.code, o.err)
	}
}

func TestRender(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077)) // a mask of the caller's is not for the host
	config, images := exampleFilesIn(t)
	out := filepath.Join(t.TempDir(), "a", "tree")
	args := []string{"render", "--role=bootstrap", "-c", config, "--images", images, "--out", out}
	if output := must(t, "", args...); output != "" {
		t.Errorf("printed %q", output)
	}
	tree := listing(t, out)
	for _, want := range []string{
		"-rw-r--r-- etc/onprem-infra/cluster.json",
		"-rwxr-xr-x etc/NetworkManager/dispatcher.d/30-local-dns-prepender",
		"-rw-r--r-- etc/systemd/system/onprem-keepalived.service",
		"drwxr-xr-x etc/systemd/system",
	} {
		if !slices.Contains(tree, want) {
			t.Errorf("%q is missing in\n%s", want, strings.Join(tree, "\n"))
		}
	}
	preset, err := os.ReadFile(filepath.Join(out, "etc/systemd/system-preset/20-onprem-infra.preset"))
	if want := "enable onprem-coredns.service\nenable onprem-install.service\nenable onprem-keepalived.service\nenable onprem-resolv.path\nenable onprem-resolv.service\nenable podman.socket\n"; err != nil || string(preset) != want {
		t.Errorf("the preset is\n%s(%v)", preset, err)
	}

	// A second time, over a changed file and beside one of somebody else's.
	for name, text := range map[string]string{"etc/onprem-infra/cluster.json": "changed", "etc/hosts": "127.0.0.1 localhost\n"} {
		if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "", args...)
	want := slices.Sorted(slices.Values(append(tree, "-rw------- etc/hosts")))
	if got := slices.Sorted(slices.Values(listing(t, out))); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if text, _ := os.ReadFile(filepath.Join(out, "etc/onprem-infra/cluster.json")); string(text) == "changed" {
		t.Error("the changed file was not written anew")
	}
}

// TestRenderInTheWay has something where a file or directory must be: nothing is written then.
func TestRenderInTheWay(t *testing.T) {
	config, images := exampleFilesIn(t)
	outside := t.TempDir()
	tests := []struct {
		name string
		make func(out string) error
		want string
		code int
	}{
		{"a directory for a file", func(out string) error {
			return os.MkdirAll(filepath.Join(out, "usr/local/bin/onprem-install/x"), 0o755)
		}, "it is a directory: name another output", exitUsage},
		{"a file for a directory", func(out string) error { return os.WriteFile(filepath.Join(out, "usr"), nil, 0o644) }, "not a directory", exitUsage},
		{"a link out of the tree", func(out string) error { return os.Symlink(outside, filepath.Join(out, "usr")) }, "escapes", exitHost},
		{"a file for the tree", func(out string) error { return os.RemoveAll(out) }, "not a directory", exitUsage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := t.TempDir()
			if err := tt.make(out); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(out); err != nil {
				if err := os.WriteFile(out, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			before := listing(t, out)
			o := invoke(t, "", "render", "--role=bootstrap", "-c", config, "--images", images, "--out", out)
			if o.code != tt.code || !strings.Contains(o.err, tt.want) {
				t.Errorf("exit %d, said %q, want %d and %q", o.code, o.err, tt.code, tt.want)
			}
			if after := listing(t, out); !slices.Equal(after, before) {
				t.Errorf("left\n%s", strings.Join(after, "\n"))
			}
			if left := listing(t, outside); len(left) > 1 {
				t.Errorf("wrote outside: %v", left)
			}
		})
	}
}

// listing is the modes and paths below a directory, the directory itself first.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		lines = append(lines, info.Mode().String()+" "+rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
