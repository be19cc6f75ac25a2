package frr_test

import (
	"bytes"
	"context"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	format "github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/frr"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// fakeDaemon is a FAKE daemon, whose answers no real one gives at will; real ones are asked in
// test/daemons.
type fakeDaemon struct {
	dir string

	mu    sync.Mutex
	asked []string
}

// open has a FAKE bgpd answer each command; nil ends the connection.
func open(t *testing.T, answer func(command string) []byte) *fakeDaemon {
	t.Helper()
	f := &fakeDaemon{dir: t.TempDir()}
	listener, err := net.Listen("unix", filepath.Join(f.dir, "bgpd.vty"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go f.serve(conn, answer)
		}
	}()
	return f
}

func (f *fakeDaemon) serve(conn net.Conn, answer func(string) []byte) {
	defer conn.Close()
	var pending []byte
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		pending = append(pending, buffer[:n]...)
		for {
			command, rest, whole := bytes.Cut(pending, []byte{0})
			if !whole {
				break
			}
			pending = rest
			f.mu.Lock()
			f.asked = append(f.asked, string(command))
			f.mu.Unlock()
			reply := []byte{0, 0, 0, 0}
			if string(command) != "enable" {
				if reply = answer(string(command)); reply == nil {
					return
				}
			}
			for _, b := range reply { // an answer comes in any pieces
				if _, err := conn.Write([]byte{b}); err != nil {
					return
				}
			}
		}
	}
}

func answer(text string, code byte) []byte { return append([]byte(text), 0, 0, 0, code) }

// TestShow holds how answers are read, and what a daemon costs that does not answer.
func TestShow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer []byte
		want   string // of the text, or of the error
		fails  bool
	}{
		"an answer":      {answer("one\ntwo\n", 0), "one\ntwo\n", false},
		"an empty one":   {answer("", 0), "", false},
		"refused":        {answer("% Invalid value\n", 13), `bgpd: "show it": refused (code 13): Invalid value`, true},
		"unknown":        {answer("% [BGP] Unknown command: show it\n", 2), "no command of this release", true},
		"the end":        {nil, "EOF", true},
		"half an answer": {[]byte("half"), "timeout", true},
		"without an end": {bytes.Repeat([]byte("x"), 200), "timeout", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, func(string) []byte { return tt.answer })
			d, err := frr.Dial(t.Context(), f.dir, format.BGP)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			patience := 10 * time.Second
			if tt.want == "timeout" {
				patience = 500 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			text, err := d.Show(ctx, "show it")
			if tt.fails {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%q, %v, want %q", text, err, tt.want)
				}
			} else if err != nil || text != tt.want {
				t.Errorf("%q, %v, want %q", text, err, tt.want)
			}
		})
	}
	if _, err := frr.Dial(t.Context(), t.TempDir(), format.BGP); err == nil || !strings.Contains(err.Error(), "reach bgpd") {
		t.Errorf("no daemon: %v", err)
	}
}

// TestApply holds that settings after a refused one are made, that nothing is made after a refused
// section, that no error has a secret, and that no command is two.
func TestApply(t *testing.T) {
	t.Parallel()
	f := open(t, func(command string) []byte {
		switch {
		case strings.HasPrefix(command, "router"):
			return answer("% no such "+command, 13)
		case strings.Contains(command, "password"):
			return answer("% bad: "+command, 13)
		}
		return answer("", 0)
	})
	d, err := frr.Dial(t.Context(), f.dir, format.BGP)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Apply(t.Context(), []format.Command{{Text: "configure terminal", Section: true}, {Text: "neighbor x password", Secret: secret.New("s3cret")},
		{Text: "a"}, {Text: "router bgp 1", Section: true}, {Text: "b"}})
	f.mu.Lock()
	defer f.mu.Unlock()
	if got, want := strings.Join(f.asked, "|"), "enable|configure terminal|neighbor x password s3cret|a|router bgp 1|end"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	if err == nil || !strings.Contains(err.Error(), `"neighbor x password [hidden]": refused (code 13)`) || !strings.Contains(err.Error(), "no such router bgp 1") ||
		strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error: %v", err)
	}
	for _, text := range []string{"a\nb", "a\x00b", "a\rb"} {
		if err := d.Apply(t.Context(), []format.Command{{Text: text}}); err == nil || !strings.Contains(err.Error(), "line break or a zero byte") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
