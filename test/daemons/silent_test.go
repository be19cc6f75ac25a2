package daemons

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestSilentNameServer holds that no keepalived waits for a name server: neither its test of each
// file that we render nor its start asks one for anything. Its supervisor bounds a test, and a
// test that waits for a silent server keeps the VIP away. The same file without router_id asks,
// so the server would notice.
func TestSilentNameServer(t *testing.T) {
	need.Command(t, "keepalived")
	host, questions := silentServer(t)
	for _, path := range goldens(t, "shared/keepalived") {
		config, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".golden"), func(t *testing.T) {
			begin := time.Now()
			code, output := judgeNamed(t, host, config)
			if asked := questions.Swap(0); asked != 0 || code != 0 || output != "" {
				t.Errorf("exit code %d, %d questions to the name server in %v: %s",
					code, asked, time.Since(begin), output)
			}
		})
	}
	t.Run("as it is rendered now", func(t *testing.T) {
		_, output := judgeNamed(t, host, keepalived.Render(keepalived.Config{}))
		if asked := questions.Swap(0); asked != 0 {
			t.Errorf("%d questions to the name server: %s", asked, output)
		}
	})
	t.Run("without router_id", func(t *testing.T) {
		config := keepalived.Render(keepalived.Config{})
		bare := strings.Replace(string(config), "    router_id onprem-infra\n", "", 1)
		if bare == string(config) {
			t.Fatalf("there is no router_id to take out:\n%s", config)
		}
		if _, output := judgeNamed(t, host, []byte(bare)); questions.Load() == 0 {
			t.Errorf("nothing was asked, so this test cannot fail: %s", output)
		}
	})
}

// silentServer is a host like node beside a name server that reads questions, counts them and
// never answers.
func silentServer(t *testing.T) (host *lab.Host, questions *atomic.Int64) {
	t.Helper()
	l := lab.New(t)
	host = nodeIn(t, l)
	server, err := add(t, l, "silent", "192.0.2.53/24").ListenPacket("192.0.2.53:53")
	if err != nil {
		t.Fatal(err)
	}
	questions = &atomic.Int64{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for buffer := make([]byte, 512); ; questions.Add(1) {
			if _, _, err := server.ReadFrom(buffer); errors.Is(err, net.ErrClosed) {
				return
			}
		}
	}()
	t.Cleanup(func() { server.Close(); <-done })
	return host, questions
}

// judgeNamed is judge on a host whose own name is in no file, so that only the name server could
// know it. The limits are the shortest that a resolver takes: what counts is whether it is asked.
func judgeNamed(t *testing.T, host *lab.Host, config []byte) (code int, output string) {
	t.Helper()
	dir := placed(t, config)
	for name, text := range map[string]string{
		"hosts": "127.0.0.1 localhost\n", "nsswitch.conf": "hosts: files dns\n",
		"resolv.conf": "nameserver 192.0.2.53\noptions timeout:1 attempts:1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const script = `
		hostname machine.example.test
		for name in hosts nsswitch.conf resolv.conf; do
			mount --bind "$1/$name" "$(readlink -f "/etc/$name")"
		done
		` + judging
	cmd := host.Command(t.Context(), "unshare", "--mount", "--uts", "sh", "-euc", script,
		need.Command(t, "keepalived"), dir)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run keepalived: %v", err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}
