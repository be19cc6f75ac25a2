package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// tftpServer answers each request with packets, from another port as servers do, and reports what
// it receives there.
func tftpServer(t *testing.T, packets ...string) (at netip.AddrPort, received chan string) {
	t.Helper()
	listen := func() net.PacketConn {
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	in, out := listen(), listen()
	received = make(chan string, 8)
	go func() {
		buffer := make([]byte, 600)
		for {
			n, from, err := in.ReadFrom(buffer)
			if err != nil {
				return
			}
			received <- string(buffer[:n])
			for _, p := range packets {
				_, _ = out.WriteTo([]byte(p), from)
			}
		}
	}()
	go func() {
		buffer := make([]byte, 600)
		for {
			n, _, err := out.ReadFrom(buffer)
			if err != nil {
				return
			}
			received <- string(buffer[:n])
		}
	}()
	return netip.MustParseAddrPort(in.LocalAddr().String()), received
}

func TestTFTP(t *testing.T) {
	for _, tt := range []struct{ name, packet, want string }{
		{"the file", "\x00\x03\x00\x01#!ipxe\n", ""},
		{"an empty file", "\x00\x03\x00\x01", ""},
		{"no such file", "\x00\x05\x00\x01file \x1b not found\x00more", `refuses the file: error 1, "file \x1b not found"`},
		{"another block", "\x00\x03\x00\x02x", "no first block"},
		{"a request", "\x00\x01a\x00octet\x00", "no first block"},
		{"nothing", "", "less than a message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, received := tftpServer(t, tt.packet)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			err := TFTP(ctx, at, "autoexec.ipxe")
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if got := <-received; got != "\x00\x01autoexec.ipxe\x00octet\x00" {
				t.Errorf("asked %q", got)
			}
			if tt.want == "" {
				if got := <-received; got != "\x00\x04\x00\x01" {
					t.Errorf("answered %q, want an acknowledgement", got)
				}
			}
		})
	}
}

func TestTFTP_NoAnswer(t *testing.T) {
	at, _ := tftpServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := TFTP(ctx, at, "x"); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), at.String()) {
		t.Errorf("got %v", err)
	}
}

// TestTFTP_Dnsmasq asks the real server, on the loopback.
func TestTFTP_Dnsmasq(t *testing.T) {
	const address = "127.0.0.78" // its port is fixed
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "autoexec.ipxe"), []byte("#!ipxe\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	need.Root(t) // for port 69
	cmd := exec.Command(need.Command(t, "dnsmasq"), "--no-daemon", "--conf-file=/dev/null", "--port=0", "--interface=lo", "--listen-address="+address,
		"--bind-interfaces", "--user=root", "--enable-tftp", "--tftp-root="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	at := netip.AddrPortFrom(netip.MustParseAddr(address), 69)
	ask := func(file string) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return TFTP(ctx, at, file)
	}
	err := ask("autoexec.ipxe")
	for end := time.Now().Add(20 * time.Second); err != nil && time.Now().Before(end); err = ask("autoexec.ipxe") {
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := ask("none"); !errors.As(err, new(TFTPRefused)) {
		t.Errorf("a missing file: %v", err)
	}
}

// FuzzTFTP holds that no answer panics, and that only a first block passes.
func FuzzTFTP(f *testing.F) {
	f.Add([]byte("\x00\x03\x00\x01x"))
	f.Add([]byte("\x00\x05\x00\x01text\x00"))
	f.Fuzz(func(t *testing.T, packet []byte) {
		err := readTFTP(packet)
		if first := strings.HasPrefix(string(packet), "\x00\x03\x00\x01"); (err == nil) != first {
			t.Errorf("%q: %v", packet, err)
		}
	})
}
