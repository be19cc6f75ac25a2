package systemd

import (
	"net"
	"path/filepath"
	"testing"
	"time"
)

// listen is systemd's end of the socket.
func listen(t *testing.T) *net.UnixConn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return conn
}

func TestNotify(t *testing.T) {
	for _, tt := range []struct {
		name   string
		notify func() error
		want   string
	}{
		{"ready", Ready, "READY=1"},
		{"stopping", Stopping, "STOPPING=1"},
		{"status", func() error { return Status("holds 192.0.2.5") }, "STATUS=holds 192.0.2.5"},
		{"a status is one line, so that no text can pose as another message",
			func() error { return Status("a\nREADY=1\n") }, "STATUS=a READY=1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn := listen(t)
			if err := tt.notify(); err != nil {
				t.Fatal(err)
			}
			buffer := make([]byte, 256)
			conn.SetReadDeadline(time.Now().Add(5 * time.Second))
			n, err := conn.Read(buffer)
			if got := string(buffer[:n]); err != nil || got != tt.want {
				t.Errorf("systemd received %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

func TestWithoutSystemdNothingFails(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	for _, notify := range []func() error{Ready, Stopping, func() error { return Status("x") }} {
		if err := notify(); err != nil {
			t.Error(err)
		}
	}
}

func TestDeadSocketIsAnError(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "missing"))
	if err := Ready(); err == nil {
		t.Error("Ready() notified no process and returned no error")
	}
}
