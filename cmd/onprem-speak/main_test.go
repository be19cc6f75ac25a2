package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/speak"
)

// TestUsage holds the exit codes, and that what is wrong is named with the usage.
func TestUsage(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"-h", 0, "usage: onprem-speak "},
		{"", 2, "--run-dir is missing"},
		{"--run-dir " + dir, 2, "--sockets is missing"},
		{"--run-dir " + dir + " --sockets " + dir + " --no-such-flag", 2, "no-such-flag"},
		{"--install", 2, "install"},
		{"--run-dir /proc/none --sockets " + dir + "/s --user root", 3, "/proc/none"},
		{"--run-dir " + dir + " --sockets " + dir + "/s --user no-such-user", 3, "no-such-user"},
	} {
		var out bytes.Buffer
		code := program.Run(t.Context(), strings.Fields(tt.args), &out)
		if code != tt.code || !strings.Contains(out.String(), tt.want) || strings.Contains(out.String(), "usage: ") != (code != 3) {
			t.Errorf("%q: %d, %s", tt.args, code, out.String())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "s")); err == nil {
		t.Error("a program that does not work has made a directory")
	}
}

// TestOptions holds what the flags mean.
func TestOptions(t *testing.T) {
	got, err := options(strings.Fields("--run-dir /r --sockets /s --passwords /p --programs /f --user bird --health 127.0.0.1:1 --real-time -- --flag -x"))
	want := speak.Options{Dir: "/r", Sockets: "/s", Passwords: "/p", Programs: "/f", User: "bird", Health: "127.0.0.1:1", RealTime: true, Flags: []string{"--flag", "-x"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := options([]string{"--run-dir", "/r", "--sockets", "/s"}); err != nil || got.User != "frr" || got.Programs != "/usr/lib/frr" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestInstall holds that the copy is the program.
func TestInstall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "onprem-speak")
	if code := program.Run(t.Context(), []string{"--install", path}, os.Stderr); code != 0 {
		t.Fatal(code)
	}
	got, err := os.ReadFile(path)
	want, errWant := os.ReadFile(os.Args[0])
	if err != nil || errWant != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d: %v, %v", len(got), len(want), err, errWant)
	}
}
