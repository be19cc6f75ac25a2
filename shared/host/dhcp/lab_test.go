package dhcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// network is a provisioning network: two hosts without any address, and two that may serve.
type network struct{ own, client, first, second *lab.Host }

func newNetwork(t *testing.T) network {
	t.Helper()
	l := lab.New(t)
	add := func(name string, addresses ...string) *lab.Host {
		var all []netip.Prefix
		for _, a := range addresses {
			all = append(all, netip.MustParsePrefix(a))
		}
		h, err := l.Add(name, all...)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	return network{add("own"), add("client"), add("first", "172.22.0.1/24", "fd00:1:22::1/64"),
		add("second", "172.22.0.2/24", "fd00:1:22::2/64")}
}

// mac is the hardware address of a host's link.
func mac(t *testing.T, h *lab.Host) (address string) {
	t.Helper()
	if err := h.Do(func() error {
		on, err := ethernet("eth0")
		if err == nil {
			address = on.HardwareAddr.String()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return address
}

// run runs a command on a host.
func run(t *testing.T, on *lab.Host, name string, args ...string) {
	t.Helper()
	out, err := on.Command(t.Context(), need.Command(t, name), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// start runs a daemon on a host until the test ends, and waits for a line of its output.
func start(t *testing.T, cmd *exec.Cmd, ready string) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = in, in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	var mu sync.Mutex
	var log strings.Builder
	is, ended := make(chan bool, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			mu.Lock()
			log.WriteString(lines.Text() + "\n")
			mu.Unlock()
			if strings.Contains(lines.Text(), ready) {
				select {
				case is <- true:
				default:
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		out.Close()
		<-ended
		if t.Failed() {
			text := log.String()
			t.Logf("%v ends with:\n%s", cmd.Args, text[max(0, len(text)-2000):])
		}
	})
	select {
	case <-is:
	case <-ended:
		t.Fatalf("%v ended", cmd.Args)
	case <-time.After(20 * time.Second):
		t.Fatalf("%v: no %q", cmd.Args, ready)
	}
}

// dnsmasq serves on a host, and returns the file of its leases.
func dnsmasq(t *testing.T, on *lab.Host, args ...string) (leases string) {
	t.Helper()
	leases = filepath.Join(t.TempDir(), "leases")
	args = append([]string{"--keep-in-foreground", "--conf-file=/dev/null", "--port=0",
		"--interface=eth0", "--except-interface=lo", "--bind-dynamic", "--user=root", "--log-dhcp",
		"--log-facility=-", "--pid-file=", "--dhcp-leasefile=" + leases}, args...)
	ready := "DHCP"
	if !strings.Contains(strings.Join(args, " "), "--dhcp-range") {
		ready = "started"
	}
	start(t, on.Command(context.Background(), need.Command(t, "dnsmasq"), args...), ready)
	return leases
}

// kea serves on a host, and returns the file of its leases.
func kea(t *testing.T, on *lab.Host) (leases string) {
	t.Helper()
	dir := t.TempDir()
	leases = filepath.Join(dir, "leases.csv")
	config, err := json.Marshal(map[string]any{"Dhcp4": map[string]any{
		"interfaces-config": map[string]any{"interfaces": []string{"eth0"}},
		"lease-database":    map[string]any{"type": "memfile", "persist": true, "name": leases},
		"next-server":       "172.22.0.77", "boot-file-name": "kea.efi",
		"subnet4": []any{map[string]any{"id": 1, "subnet": "172.22.0.0/24",
			"pools": []any{map[string]any{"pool": "172.22.0.100-172.22.0.150"}}}},
		"loggers": []any{map[string]any{"name": "kea-dhcp4", "severity": "INFO",
			"output_options": []any{map[string]any{"output": "stdout"}}}},
	}})
	file := filepath.Join(dir, "kea.conf")
	if err == nil {
		err = os.WriteFile(file, config, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	// its directories are fixed when it is built: below /run, which it gets for itself
	const script = `mount -t tmpfs tmpfs /run && mkdir -p /run/kea /run/lock/kea && exec "$0" "$@"`
	cmd := on.Command(context.Background(), "unshare", "--mount", "sh", "-c", script,
		need.Command(t, "kea-dhcp4"), "-c", file)
	cmd.Env = append(os.Environ(), "KEA_PIDFILE_DIR="+dir, "KEA_LOCKFILE_DIR="+dir,
		"KEA_DHCP_DATA_DIR="+dir)
	start(t, cmd, "DHCP4_STARTED")
	return leases
}

// ask probes from the host without an address.
func (n network) ask(t *testing.T, p Probe) (servers []offer.Server) {
	t.Helper()
	if p.Within == 0 {
		p.Within = 1500 * time.Millisecond
	}
	begin := time.Now()
	err := n.own.Do(func() (err error) {
		servers, _, err = p.Ask(t.Context(), "eth0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > p.Within+5*time.Second {
		t.Errorf("it took %v, want %v", took, p.Within)
	}
	return servers
}

// find probes again and again until so many servers of a kind have been received: on a busy machine
// a server may answer late, and begins to advertise a second after its link has come up.
func (n network) find(t *testing.T, p Probe, kind offer.Kind, count int) []offer.Server {
	t.Helper()
	p.Within = 700 * time.Millisecond
	var all offer.List
	for range 20 {
		for _, s := range n.ask(t, p) {
			all.Add(s)
		}
		if servers, _ := all.Servers(); len(of(servers, kind)) >= count {
			return servers
		}
	}
	servers, _ := all.Servers()
	return servers
}

// entries are the lines of a file of leases, without kea's header and the servers' own identity.
func entries(t *testing.T, file string) (out []string) {
	t.Helper()
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "duid ") &&
			!strings.HasPrefix(line, "address,") {
			out = append(out, line)
		}
	}
	return out
}
