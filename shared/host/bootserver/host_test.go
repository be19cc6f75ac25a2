package bootserver

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/bootserver"
	filter "github.com/onprem-infra/onprem-infra/shared/host/nft/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestWrite holds that a file is written with its directory, and that only a change is one.
func TestWrite(t *testing.T) {
	f := asset.File{Path: filepath.Join(t.TempDir(), "run", "dnsmasq", "hosts"), Mode: 0o644}
	for _, tt := range []struct {
		contents string
		changed  bool
	}{{"a", true}, {"a", false}, {"b", true}} {
		f.Contents = []byte(tt.contents)
		changed, err := Host{}.Write(f)
		text, errRead := os.ReadFile(f.Path)
		if err != nil || errRead != nil || changed != tt.changed || string(text) != tt.contents {
			t.Errorf("%s: changed %t, %v; the file has %q, %v", tt.contents, changed, err, text, errRead)
		}
	}
	if !(Host{}).Exists(f.Path) || (Host{}).Exists(filepath.Dir(f.Path)) || (Host{}).Exists(f.Path+"x") {
		t.Error("only regular files that are there exist")
	}
}

// server is dnsmasq as a TFTP server in a namespace, which starts after a while. Its process may be
// used once started is closed.
func server(t *testing.T, ns netns.Namespace, after time.Duration) (cmd *exec.Cmd, started chan struct{}) {
	t.Helper()
	dnsmasq, root := need.Command(t, "dnsmasq"), t.TempDir()
	if err := os.WriteFile(filepath.Join(root, bootserver.Asked), []byte("#!ipxe\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(dnsmasq, "--no-daemon", "--conf-file=/dev/null", "--port=0", "--enable-tftp", "--tftp-root="+root, "--user=root")
	started = make(chan struct{})
	var failed error
	go func() {
		defer close(started)
		time.Sleep(after)
		failed = ns.In(cmd.Start)
	}()
	t.Cleanup(func() {
		if <-started; failed != nil {
			t.Error(failed)
			return
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, started
}

// TestAnswers holds that a dnsmasq which starts is waited for, that one which does not come is an
// error in time, and that a running one is known to answer for a while after it did.
func TestAnswers(t *testing.T) {
	ns, at := netns.New(t), netip.MustParseAddr("172.22.0.3")
	ns.IP(t, "link set lo up\naddr add 172.22.0.3/24 dev lo\n")
	answers := func(file string) error {
		return ns.In(func() error { return Host{}.Answers(t.Context(), at, file) })
	}
	begin := time.Now()
	if err := answers(bootserver.Asked); err == nil || time.Since(begin) < start.Within || time.Since(begin) > 2*start.Within {
		t.Errorf("without a server: %v after %v", err, time.Since(begin))
	}
	alive := Alive(at)
	probe := func() error { return ns.In(func() error { return alive(t.Context()) }) }
	if err := probe(); err == nil {
		t.Error("it is alive without a server")
	}
	cmd, started := server(t, ns, time.Second/2)
	if err := answers(bootserver.Asked); err != nil {
		t.Errorf("it starts: %v", err)
	}
	if err := answers("other"); err == nil || !strings.Contains(err.Error(), "refuses") {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := probe(); err != nil {
		t.Errorf("it runs: %v", err)
	}
	<-started
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := probe(); err != nil {
		t.Errorf("it answered a moment ago: %v", err)
	}
	if err := ns.In(func() error { return Alive(at)(t.Context()) }); err == nil || !strings.Contains(err.Error(), "does not answer over TFTP within 1s") {
		t.Errorf("it is stopped: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ns.In(func() error { return Host{}.Answers(ctx, at, bootserver.Asked) }); err == nil {
		t.Error("an answer after the end")
	}
}

// TestFence holds that the kernel gets the filter of the clients, fenced, and loses it again.
func TestFence(t *testing.T) {
	ns, hosts := netns.New(t), []mac.MAC{{0x52, 0x54, 0, 0, 0, 1}}
	for _, from := range []bootserver.Clients{{Hosts: hosts}, {Hosts: hosts, Except: true}} {
		if err := ns.In(func() error {
			if err := (Fence{}).Keep("eno2", from); err != nil {
				return err
			}
			want := filter.Filter{Link: "eno2", Hosts: from.Hosts, Except: from.Except, Fenced: true}
			if changed, err := filter.Keep(want); err != nil || changed {
				t.Errorf("%+v: the kernel's filter differs from %+v, %v", from, want, err)
			}
			if err := (Fence{}).Allow(time.Second); err != nil {
				return err
			}
			if err := (Fence{}).Close(); err != nil {
				return err
			}
			return Fence{}.Remove()
		}); err != nil {
			t.Fatal(err)
		}
		if err := ns.In(func() error { return Fence{}.Allow(time.Second) }); err == nil {
			t.Error("a fence that was removed opens")
		}
	}
}
