package first

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func one(work func(context.Context) error, wrong error) Program {
	return Program{Name: "one", Usage: "usage: one\n", Parse: func([]string, *slog.Logger) (func(context.Context) error, error) { return work, wrong }}
}

// TestRun holds the exit codes, and what is printed.
func TestRun(t *testing.T) {
	good := func(context.Context) error { return nil }
	copied := filepath.Join(t.TempDir(), "copied")
	for name, tt := range map[string]struct {
		p    Program
		args []string
		code int
		want string
	}{
		"an end in order":         {one(good, nil), nil, 0, ""},
		"a host in the way":       {one(func(context.Context) error { return errors.New("no room") }, nil), nil, 3, "one: no room\n"},
		"help":                    {one(nil, flag.ErrHelp), []string{"-h"}, 0, "usage: one\n"},
		"wrong usage":             {one(nil, errors.New("--dir is missing")), nil, 2, "one: --dir is missing\nusage: one\n"},
		"install":                 {one(nil, errors.New("parsed")), []string{"--install", copied}, 0, ""},
		"install in no directory": {one(nil, errors.New("parsed")), []string{"--install", copied + "/x"}, 3, "one: "},
		"install without a file":  {one(nil, errors.New("parsed")), []string{"--install"}, 2, "one: parsed\n"},
	} {
		var out bytes.Buffer
		if code := tt.p.Run(t.Context(), tt.args, &out); code != tt.code || !strings.HasPrefix(out.String(), tt.want) || tt.want == "" && out.Len() > 0 {
			t.Errorf("%s: %d, %q", name, code, out.String())
		}
	}
	want, errWant := os.ReadFile(os.Args[0])
	got, err := os.ReadFile(copied)
	info, errInfo := os.Stat(copied)
	if err := errors.Join(errWant, err, errInfo); err != nil || !bytes.Equal(got, want) || info.Mode() != 0o755 {
		t.Errorf("%d bytes are installed of %d, %v", len(got), len(want), err)
	}
}

// TestMain_Signals holds that SIGHUP does nothing, not for the daemons either, which it is not hidden from, and
// that SIGTERM ends the program in order.
func TestMain_Signals(t *testing.T) {
	const asked = "ONPREM_INFRA_TEST_FIRST"
	if os.Getenv(asked) != "" {
		one(func(ctx context.Context) error {
			out, err := exec.CommandContext(ctx, "sh", "-c", "grep SigIgn /proc/self/status").Output()
			fmt.Printf("ready %s\n", strings.Fields(string(out))[1])
			<-ctx.Done()
			return err
		}, nil).Main()
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestMain_Signals$")
	cmd.Env = append(os.Environ(), asked+"=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var ignored uint64
	if n, err := fmt.Fscanf(out, "ready %x\n", &ignored); n != 1 || ignored&1 != 0 {
		t.Errorf("its daemon ignores the signals %x: %v", ignored, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGHUP} {
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-ended:
		t.Fatalf("SIGHUP ends it: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
}

// TestServe holds that a page is at its path alone, and that every other path has the health.
func TestServe(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var rounds Rounds
	long := strings.Repeat("x", 1<<20)
	h := Health{Address: address, Rounds: &rounds, Log: slog.New(slog.DiscardHandler), Pages: map[string]Page{"/metrics": {"text/x", func() []byte { return []byte(long) }}}}
	ended := make(chan struct{})
	go func() { h.Serve(ctx); close(ended) }()
	ask := func(request string) string {
		t.Helper()
		for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
			c, err := net.Dial("tcp", address)
			if err != nil && time.Since(begun) < 10*time.Second {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(c, request)
			text, err := io.ReadAll(c)
			if err != nil {
				t.Error(err)
			}
			c.Close()
			return string(text)
		}
	}
	if got := ask("GET /healthz HTTP/1.1\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 503 ") {
		t.Errorf("before the first round: %q", got)
	}
	rounds.Began(time.Now())
	for _, request := range []string{"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "x", "\r\n\r\n"} {
		if got := ask(request); !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n") || !strings.HasSuffix(got, "the loop makes rounds\n") {
			t.Errorf("%q: %q", request, got)
		}
	}
	for _, request := range []string{"GET /metrics HTTP/1.1\r\n\r\n", "GET /metrics?a=b HTTP/1.1\r\n\r\n"} {
		if got := ask(request); !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\nContent-Type: text/x\r\n") || !strings.HasSuffix(got, "\r\n\r\n"+long) {
			t.Errorf("%q: %d bytes", request, len(got))
		}
	}
	cancel()
	<-ended
}
