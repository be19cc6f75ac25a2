package ipmi

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestPing_Simulator has the real ipmi_sim of OpenIPMI answer.
func TestPing_Simulator(t *testing.T) {
	program := need.Command(t, "ipmi_sim")
	dir, port := t.TempDir(), freePort(t)
	files := map[string]string{
		"lan.conf": fmt.Sprintf(`name "fake"
set_working_mc 0x20
startlan 1
  addr 127.0.0.1 %d
  priv_limit admin
  allowed_auths_callback none md2 md5 straight
  allowed_auths_user none md2 md5 straight
  allowed_auths_operator none md2 md5 straight
  allowed_auths_admin none md2 md5 straight
  guid a123456789abcdefa123456789abcdef
endlan
user 1 true "" "test" user 10 none md2 md5 straight
`, port),
		"bmc.emu": "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02\n" +
			"mc_enable 0x20\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	cmd := exec.Command(program, "-n", "-c", filepath.Join(dir, "lan.conf"),
		"-f", filepath.Join(dir, "bmc.emu"), "-s", dir)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	address, got := fmt.Sprintf("127.0.0.1:%d", port), Pong{}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && !got.Seen; {
		got = Ping(t.Context(), address, 300*time.Millisecond)
	}
	if !got.Seen || !got.IPMI {
		t.Errorf("%+v; the simulator wrote:\n%s", got, out.String())
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// TestPing_Faults has FAKE BMCs that answer otherwise than the standard has it.
func TestPing_Faults(t *testing.T) {
	good := append([]byte{6, 0, 0xff, 6, 0, 0, 0x11, 0xbe, 0x40, 0, 0, 16}, make([]byte, 16)...)
	with := func(at int, value byte) []byte {
		out := bytes.Clone(good)
		out[at] = value
		return out
	}
	for name, tt := range map[string]struct {
		answers [][]byte
		want    Pong
	}{
		"a pong":               {[][]byte{good}, Pong{Seen: true}},
		"a pong with IPMI":     {[][]byte{with(20, 0x81)}, Pong{Seen: true, IPMI: true}},
		"silence":              {nil, Pong{Why: "no answer to 3 pings"}},
		"garbage, then a pong": {[][]byte{{1, 2}, bytes.Repeat([]byte{6}, 600), good}, Pong{Seen: true}},
		"cut short":            {[][]byte{good[:27]}, Pong{Why: "no answer to 3 pings"}},
		"another class":        {[][]byte{with(3, 7)}, Pong{Why: "no answer to 3 pings"}},
		"another enterprise":   {[][]byte{with(7, 1)}, Pong{Why: "no answer to 3 pings"}},
		"its own ping":         {[][]byte{with(8, 0x80)}, Pong{Why: "no answer to 3 pings"}},
		"another version":      {[][]byte{with(0, 5)}, Pong{Why: "no answer to 3 pings"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.ListenPacket("udp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done, pings := make(chan struct{}), atomic.Int32{}
			go func() {
				defer close(done)
				buffer := make([]byte, 100)
				for {
					n, from, err := conn.ReadFrom(buffer)
					if err != nil {
						return
					}
					if n == 12 && buffer[8] == 0x80 {
						pings.Add(1)
					}
					for _, answer := range tt.answers {
						_, _ = conn.WriteTo(answer, from)
					}
				}
			}()
			wait, sent := 100*time.Millisecond, int32(attempts)
			if tt.want.Seen {
				wait, sent = 30*time.Second, 1 // the machine may be busy
			}
			got := Ping(t.Context(), conn.LocalAddr().String(), wait)
			for end := time.Now().Add(10 * time.Second); pings.Load() < sent && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			conn.Close()
			<-done
			if got != tt.want || pings.Load() != sent {
				t.Errorf("%+v after %d pings, want %+v", got, pings.Load(), tt.want)
			}
		})
	}
}

func TestPing_Refused(t *testing.T) {
	got := Ping(t.Context(), fmt.Sprintf("127.0.0.1:%d", freePort(t)), 200*time.Millisecond)
	if !got.Refused || got.Seen {
		t.Errorf("a host without IPMI: %+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Ping(ctx, "127.0.0.1", time.Minute); got.Seen || got.Why == "" {
		t.Errorf("after its time: %+v", got)
	}
	if got := Ping(t.Context(), "[::1", time.Millisecond); got.Seen {
		t.Errorf("a broken address: %+v", got)
	}
}

func FuzzPong(f *testing.F) {
	f.Add([]byte{6, 0, 0xff, 6, 0, 0, 0x11, 0xbe, 0x40, 0, 0, 16})
	f.Fuzz(func(t *testing.T, packet []byte) {
		if got, ok := parse(packet); ok && !got.Seen {
			t.Error("a pong that is not seen")
		}
	})
}
