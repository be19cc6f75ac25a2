package proc

import (
	"os"
	"path/filepath"
	"testing"
)

// TestVersion holds what is read of a program's answer, and that a program which is not there has
// no version and is no error.
func TestVersion(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, tt := range []struct{ name, script, want string }{
		{"podman", "echo podman version 4.3.1", "4.3.1"},
		{"systemctl", "echo 'systemd 252 (252.38-1~deb12u1)'", "252"},
		{"commas", "echo 'x 1.2, built'", "1.2"},
	} {
		if err := os.WriteFile(filepath.Join(dir, tt.name), []byte("#!/bin/sh\n"+tt.script+"\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
		if got, err := Version(t.Context(), tt.name); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
	if got, err := Version(t.Context(), "no-such-program"); got != "" || err != nil {
		t.Errorf("absent: %q, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "versionless"), []byte("#!/bin/sh\necho hello\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Version(t.Context(), "versionless"); err == nil {
		t.Error("a program that prints no version has one")
	}
}
