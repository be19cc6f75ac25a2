package netboot

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestLongIPXE boots machines whose cards have real iPXE, from dnsmasq's answer by way of our
// scripts, and compares which files they fetch.
func TestLongIPXE(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("boots machines without KVM: ONPREM_INFRA_LONG=1 asks for it")
	}
	const boot, host, ironic = "/boot.ipxe", "/hosts/52-54-00-00-00-0a.ipxe",
		"/pxelinux.cfg/52-54-00-00-00-0a"
	for _, tt := range []struct {
		name   string
		script string // Ironic's for the host; empty for none
		want   []string
	}{
		{"the script of the host", "#!ipxe\nchain ../kernel ||\nexit 0\n",
			[]string{boot, host, ironic, "/kernel"}},
		{"PR-11: a script that leads back", "#!ipxe\nchain ../boot.ipxe\n",
			append(slices.Repeat([]string{boot, host, ironic}, 5), boot)},
		{"no script", "",
			[]string{boot, host, ironic, host, ironic, host, ironic, host, ironic, host, ironic}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			on := add(t, l, "server", "172.22.0.2/24")
			s := serve(t, on, network4("172.22.0.2", card(10)))
			if tt.script != "" {
				path := filepath.Join(s.network.Paths.HTTP, ironic)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(tt.script), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			fetched := web(t, on, s.network.Paths.HTTP)
			machine(t, add(t, l, "client"))
			deadline := time.Now().Add(6 * patience)
			for len(fetched()) < len(tt.want) && time.Now().Before(deadline) {
				time.Sleep(100 * time.Millisecond)
			}
			time.Sleep(patience / 4) // for what comes after the last file
			if got := fetched(); !slices.Equal(got, tt.want) {
				t.Errorf("fetched\n%s\nwant\n%s", strings.Join(got, "\n"),
					strings.Join(tt.want, "\n"))
			}
		})
	}
}

// web serves a directory on a host, and returns the paths that were asked for so far.
func web(t *testing.T, on *lab.Host, dir string) func() []string {
	t.Helper()
	listener, err := on.Listen("172.22.0.2:6180")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var paths []string
	files := http.FileServer(http.Dir(dir))
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, r.URL.Path)
		mu.Unlock()
		files.ServeHTTP(w, r)
	})}
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() { server.Close(); done.Wait() })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(paths)
	}
}

// machine switches on a machine with one card, in the place of a host of the lab.
func machine(t *testing.T, h *lab.Host) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	for _, line := range []string{
		"link add br0 type bridge stp_state 0 mcast_snooping 0", "link set eth0 master br0",
		"tuntap add tap0 mode tap", "link set tap0 master br0 up", "link set br0 up",
	} {
		if out, err := h.Command(ctx, "ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", line, err, out)
		}
	}
	cmd := h.Command(ctx, need.Command(t, "qemu-system-x86_64"), "-machine", "pc,accel=tcg",
		"-m", "128", "-nodefaults", "-display", "none", "-boot", "n",
		"-netdev", "tap,id=n,ifname=tap0,script=no,downscript=no",
		"-device", "virtio-net-pci,netdev=n,mac="+card(10).String())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
}
