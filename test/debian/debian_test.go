package debian

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

func TestRecipe_Version(t *testing.T) {
	first := Recipe{Name: "x", Packages: []string{"a", "b"}, Unpacked: []string{"c"}, Finish: "true"}
	versions := map[string]bool{first.Version(): true}
	for _, other := range []Recipe{
		{Name: "x", Packages: []string{"a"}, Unpacked: []string{"c"}, Finish: "true"},
		{Name: "x", Packages: []string{"a", "b"}, Finish: "true"},
		{Name: "x", Packages: []string{"a", "b"}, Unpacked: []string{"c"}, Finish: "false"},
	} {
		versions[other.Version()] = true
	}
	if len(versions) != 4 {
		t.Errorf("recipes that differ have the versions %v", versions)
	}
}

// TestLongRoot makes a root with one package more, and one unpacked, and runs a program in it.
func TestLongRoot(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("takes minutes")
	}
	need.Root(t)
	need.Command(t, "debootstrap")
	r := Recipe{Name: "tiny", Packages: []string{"busybox"}, Unpacked: []string{"hello"}, Finish: `echo made >"$R/etc/made"`}
	root, err := r.Root(t.Context(), slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Discard(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("here\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := root.Command(t.Context(), []string{dir}, "sh", "-ec",
		`cat "$0/in" /etc/made; busybox true; hello; echo $$ >"$0/pid"; touch /tmp/x; id -u`, dir).Output()
	if err != nil || string(out) != "here\nmade\nHello, world!\n0\n" {
		t.Errorf("%v, printed %q", err, out)
	}
	if _, err := os.Stat(filepath.Join(string(root), "tmp/x")); err == nil {
		t.Error("a program in the root wrote to it")
	}
	if err := root.Run(t.Context(), nil, "sh", "-c", "echo reason; exit 3"); err == nil || !strings.Contains(err.Error(), "reason") {
		t.Errorf("a program that fails: %v", err)
	}
}

func TestMirror(t *testing.T) {
	need.Command(t, "apt-get")
	url, err := Mirror(t.Context())
	if err != nil || !strings.HasPrefix(url, "http") {
		t.Errorf("the mirror is %q, %v", url, err)
	}
}

// TestLongTools has each tool report its version.
func TestLongTools(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("takes minutes")
	}
	need.Root(t)
	need.Command(t, "debootstrap")
	root, err := Tools.Root(t.Context(), slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]string{
		"qemu-system-x86_64 --version": "QEMU emulator version 10.", "mksquashfs -version": "mksquashfs version 4.",
		"grub-mkimage --version": "GRUB) 2.", "mcopy --version": "mtools", "sfdisk --version": "util-linux",
		"mke2fs -V": "mke2fs 1.", "xz --version": "xz (XZ Utils)", "ls /usr/share/OVMF": "OVMF_CODE_4M.fd",
		"ls /usr/lib/grub": "i386-pc\nx86_64-efi\n", "ls /usr/share/qemu": "pxe-virtio.rom",
	} {
		out, _ := root.Command(t.Context(), nil, strings.Fields(program)...).CombinedOutput()
		if !strings.Contains(string(out), want) {
			t.Errorf("%s prints %q, want %q", program, out, want)
		}
	}
}
