package netboot

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// network4 and network6 are a phase with two hosts.
func network4(server string, macs ...mac.MAC) provisioning.Network {
	return network(netip.MustParseAddr(server), netip.MustParsePrefix("172.22.0.0/24"), macs)
}

func network6(server string, macs ...mac.MAC) provisioning.Network {
	n := network(netip.MustParseAddr(server), netip.MustParsePrefix("fd00:22::/64"), macs)
	for i := range n.Reservations {
		n.Reservations[i].Bits = 126
	}
	return n
}

// network reserves an address for each host that is a function of its MAC, as a plan does.
func network(
	server netip.Addr, prefix netip.Prefix, macs []mac.MAC,
) provisioning.Network {
	n := provisioning.Network{
		Interface: "eth0", Server: server, Prefix: prefix, Mode: provisioning.Managed,
		Lease: time.Hour, HTTPPort: 6180,
		Programs: provisioning.Programs{BIOS: "undionly.kpxe", IA32: "ipxe-ia32.efi",
			X64: "snponly.efi", ARM64: "snponly-arm64.efi"},
	}
	for _, m := range macs {
		n.Reservations = append(n.Reservations, provisioning.Reservation{
			MAC: m, Address: reserved(prefix, m), Name: fmt.Sprintf("host-%d", m[5]),
		})
	}
	return n
}

// card is the MAC address of a test's host by its number.
func card(n byte) mac.MAC { return mac.MAC{0x52, 0x54, 0, 0, 0, n} }

// reserved is the address of a host: .N over IPv4; over IPv6 the block of four that begins at N*4.
func reserved(prefix netip.Prefix, m mac.MAC) netip.Addr {
	b := prefix.Addr().AsSlice()
	b[len(b)-1] = m[5]
	if prefix.Addr().Is6() {
		b[len(b)-2], b[len(b)-1] = m[5]>>6, m[5]<<2
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// server is a running dnsmasq.
type server struct {
	network provisioning.Network
	pid     int
	exited  chan struct{}

	mu  sync.Mutex
	log bytes.Buffer
}

func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

func (s *server) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// serve runs dnsmasq on a host by our files alone, below a directory of the test's.
func serve(t *testing.T, on *lab.Host, n provisioning.Network) *server {
	t.Helper()
	dir := t.TempDir()
	n.Paths = provisioning.Paths{Hosts: dir + "/hosts", Leases: dir + "/leases",
		TFTP: dir + "/tftp", HTTP: dir + "/http"}
	s := &server{network: n, exited: make(chan struct{})}
	s.files(t)
	ctx, stop := context.WithCancel(context.Background())
	cmd := on.Command(ctx, need.Command(t, "dnsmasq"), "-C", dir+"/dnsmasq.conf")
	cmd.Stdout, cmd.Stderr = s, s
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.pid = cmd.Process.Pid
	go func() { defer close(s.exited); _ = cmd.Wait() }()
	t.Cleanup(func() {
		stop()
		<-s.exited
		if t.Failed() {
			t.Logf("dnsmasq on %s:\n%s", on.Name, s.text())
		}
	})
	s.await(t, "started")
	return s
}

// files writes what Files renders.
func (s *server) files(t *testing.T) {
	t.Helper()
	dir := filepath.Dir(s.network.Paths.Hosts)
	all, err := provisioning.Files(s.network, dir+"/dnsmasq.conf")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.Path, f.Contents, f.Mode); err != nil {
			t.Fatal(err)
		}
	}
}

// stop ends dnsmasq as a service manager does.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(s.pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-s.exited
}

// await waits for a text in the log.
func (s *server) await(t *testing.T, text string) {
	t.Helper()
	wait(t, "dnsmasq to log "+text, func() bool {
		select {
		case <-s.exited:
			t.Fatalf("dnsmasq exited:\n%s", s.text())
		default:
		}
		return strings.Contains(s.text(), text)
	})
}

// wait waits for a condition.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s for %s", patience, what)
		}
	}
}

// add adds a host to the lab.
func add(t *testing.T, l *lab.Lab, name string, addresses ...string) *lab.Host {
	t.Helper()
	var prefixes []netip.Prefix
	for _, a := range addresses {
		prefixes = append(prefixes, netip.MustParsePrefix(a))
	}
	h, err := l.Add(name, prefixes...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
