package envelopes

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// ignition is Debian's build of the real one, made for an initramfs.
const ignition = "/usr/lib/dracut/modules.d/30ignition/ignition"

// apply has the real Ignition write a document to an empty root directory. Outside of an initramfs
// it wants an SELinux policy's name and a setfiles, so it gets one that is called none and one that
// labels nothing.
func apply(t *testing.T, document string) (root string) {
	t.Helper()
	root, work := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(root, "etc/selinux/config"): "SELINUXTYPE=none\n",
		filepath.Join(work, "setfiles"):           "#!/bin/sh\n",
		filepath.Join(work, "config.ign"):         document,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, stage := range []string{"fetch-offline", "fetch", "files"} {
		cmd := exec.CommandContext(t.Context(), ignition, "-platform", "file", "-root", root, "-stage", stage, "-log-to-stdout",
			"-config-cache", filepath.Join(work, "cache"), "-state-file", filepath.Join(work, "state"), "-neednet", filepath.Join(work, "neednet"))
		cmd.Env = []string{"PATH=" + work + ":" + os.Getenv("PATH"), "IGNITION_CONFIG_FILE=" + filepath.Join(work, "config.ign")}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("ignition %s: %v\n%s", stage, err, out)
		}
	}
	for _, path := range []string{"etc/selinux", "etc/.ignition-result.json"} {
		if err := os.RemoveAll(filepath.Join(root, path)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// tree is every file below a directory: path -> mode, owner and contents.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		files[rel] = fmt.Sprintf("%v\n%s", info.Mode(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestApply holds that both envelopes put the same on a disk. Only the presets have names of their
// own.
func TestApply(t *testing.T) {
	need.Root(t)
	need.File(t, ignition)
	refs := images(t)
	eachHost(t, func(t *testing.T, input string, r role.Role) {
		got := tree(t, apply(t, ours(t, input, "ignition", "--role="+string(r), "-c", "-", "--images", refs)))
		want := tree(t, render(t, input, refs, r))
		if presets(got) != presets(want) {
			t.Errorf("Ignition enables\n%s\nthe preset of the tree\n%s", presets(got), presets(want))
		}
		for _, path := range slices.Sorted(maps.Keys(want)) {
			if !strings.Contains(path, "system-preset/") && got[path] != want[path] {
				t.Errorf("%s: Ignition wrote\n%s\nthe tree has\n%s", path, got[path], want[path])
			}
			delete(got, path)
		}
		for path := range got {
			if !strings.Contains(path, "system-preset/") {
				t.Errorf("Ignition wrote %s, which is not in the tree", path)
			}
		}
	})
}

// render has our program write the tree.
func render(t *testing.T, input, images string, r role.Role) (root string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "tree")
	ours(t, input, "render", "--role="+string(r), "-c", "-", "--images", images, "--out", root, "--quiet")
	return root
}

// presets are the lines of all presets of a tree that say something.
func presets(files map[string]string) string {
	var lines []string
	for path, text := range files {
		for line := range strings.Lines(text) {
			if strings.Contains(path, "system-preset/") && strings.HasPrefix(line, "enable ") {
				lines = append(lines, line)
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
