package provisioning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
	"github.com/onprem-infra/onprem-infra/test/qemuhost"
)

// link is the bootstrap machine's on the provisioning network, a bridge into which the machines are
// plugged.
const link = "prov0"

// Addresses: the bootstrap machine, its hosts and a machine beside it on the provisioning network,
// and the BMCs.
var (
	prefix = netip.MustParsePrefix("172.22.0.0/24")
	server = netip.MustParseAddr("172.22.0.2")
	beside = netip.MustParseAddr("172.22.0.250")
	bmcs   = netip.MustParsePrefix("198.51.100.0/24")
)

// number is a port's.
func number(name string) uint16 {
	p, ok := port.Lookup(name)
	if !ok {
		panic("there is no port " + name)
	}
	return p.Number
}

// numbered is an address of a network.
func numbered(p netip.Prefix, n byte) netip.Addr {
	b := p.Addr().As4()
	b[3] = n
	return netip.AddrFrom4(b)
}

// lab is one end of all networks: the bootstrap machine's, or that of a machine beside it.
type lab struct {
	netns.Namespace
	client  *http.Client   // of the network
	reports netip.AddrPort // where operating systems report
}

func newLab(t testing.TB, at netip.Addr) lab {
	t.Helper()
	l := lab{Namespace: netns.New(t), reports: netip.AddrPortFrom(at, 8088)}
	l.IP(t, fmt.Sprintf(`link set lo up
		link add %[1]s type bridge forward_delay 0
		addr add %[2]s/%[3]d dev %[1]s
		link set %[1]s up
		addr add %[4]s/%[3]d dev lo`, link, at, prefix.Bits(), numbered(bmcs, 1)))
	l.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (c net.Conn, err error) {
			err = l.In(func() error {
				c, err = (&net.Dialer{}).DialContext(ctx, network, address)
				return err
			})
			return c, err
		},
	}}
	return l
}

// listen listens in the network.
func (l lab) listen(t testing.TB, at netip.AddrPort) (listener net.Listener) {
	t.Helper()
	err := l.In(func() (err error) {
		listener, err = net.Listen("tcp", at.String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// serve serves until the test ends.
func (l lab) serve(t testing.TB, at netip.AddrPort, handler http.Handler) {
	t.Helper()
	s := &http.Server{Handler: handler}
	listener := l.listen(t, at)
	done := make(chan error, 1)
	go func() { done <- s.Serve(listener) }()
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), <-done); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// plug makes a wire into the provisioning network.
func (l lab) plug(t testing.TB, name string) *qemuhost.Tap {
	t.Helper()
	var tap *qemuhost.Tap
	err := l.In(func() (err error) {
		tap, err = qemuhost.NewTap(name)
		return err
	})
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs taps: %v", err))
	}
	t.Cleanup(func() { tap.Close() })
	l.IP(t, fmt.Sprintf("link set %s master %s up", name, link))
	return tap
}

// receive receives what operating systems report.
func (l lab) receive(t testing.TB) <-chan string {
	t.Helper()
	received := make(chan string, 10)
	l.serve(t, l.reports, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(io.LimitReader(r.Body, 1<<10)) // what came is compared
		received <- r.RemoteAddr[:strings.LastIndex(r.RemoteAddr, ":")] + " " + string(text)
	}))
	return received
}

// requests counts what a server is asked for, by path.
type requests struct {
	http.Handler
	log func(format string, args ...any)
}

func (r requests) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	began := time.Now()
	r.Handler.ServeHTTP(w, q)
	r.log("HTTP: %s %s %s in %v", q.RemoteAddr, q.Method, q.URL.Path, time.Since(began).Round(time.Millisecond))
}

// startDnsmasq runs dnsmasq by the project's files alone, for these hosts, until the test ends.
func (l lab) startDnsmasq(t *testing.T, state string, hosts ...*host) {
	t.Helper()
	n := provisioning.Network{Interface: link, Server: server, Prefix: prefix, Mode: provisioning.Managed,
		Lease: time.Hour, HTTPPort: number(port.ProvisioningHTTP),
		Programs: provisioning.Programs{BIOS: "undionly.kpxe", X64: "snponly.efi"},
		Paths: provisioning.Paths{Hosts: state + "/dnsmasq.hosts", Leases: state + "/leases",
			TFTP: state + "/tftp", HTTP: state + "/http"}}
	for _, h := range hosts {
		m, err := mac.ParseCard(h.mac)
		if err != nil {
			t.Fatal(err)
		}
		n.Reservations = append(n.Reservations, provisioning.Reservation{MAC: m, Address: h.address, Name: h.name})
	}
	conf := state + "/dnsmasq.conf"
	files, err := provisioning.Files(n, conf)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(f.Path), 0o755), os.WriteFile(f.Path, f.Contents, f.Mode)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := os.Create(state + "/dnsmasq.log")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(need.Command(t, "dnsmasq"), "-C", conf)
	cmd.Stdout, cmd.Stderr = out, out
	if err := l.In(cmd.Start); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		log, _ := os.ReadFile(out.Name())
		if t.Failed() {
			t.Logf("dnsmasq:\n%s", log)
		}
	})
}
