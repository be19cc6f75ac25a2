package debian

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestModules has a kernel of five modules, of which one needs two others in an order.
func TestModules(t *testing.T) {
	tree := t.TempDir()
	dir := filepath.Join(tree, "usr/lib/modules/6.1")
	list := "kernel/ext4.ko.xz: kernel/jbd2.ko.xz kernel/crc-16.ko.xz\nkernel/jbd2.ko.xz: kernel/crc-16.ko.xz\nkernel/crc-16.ko.xz:\nkernel/virtio-rng.ko.xz:\nkernel/unused.ko.xz: kernel/crc-16.ko.xz\n"
	if err := os.MkdirAll(filepath.Join(dir, "kernel"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"modules.dep": list, "kernel/ext4.ko.xz": "", "kernel/jbd2.ko.xz": "", "kernel/crc-16.ko.xz": "", "kernel/virtio-rng.ko.xz": "", "kernel/unused.ko.xz": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := NewModules(tree)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"kernel/crc-16.ko.xz", "kernel/jbd2.ko.xz", "kernel/ext4.ko.xz", "kernel/virtio-rng.ko.xz"}
	if got := m.Needed("ext4", "built_in", "virtio_rng", "jbd2"); !slices.Equal(got, want) || m.Version != "6.1" {
		t.Errorf("needed of %s: %v, want %v", m.Version, got, want)
	}
	if err := m.Prune("jbd2"); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "kernel/*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "crc-16.ko.xz" || filepath.Base(left[1]) != "jbd2.ko.xz" {
		t.Errorf("left are %v, %v", left, err)
	}
	if err := os.Mkdir(filepath.Join(tree, "usr/lib/modules/6.2"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := NewModules(tree); err == nil {
		t.Error("a tree with two kernels has no error")
	}
}
