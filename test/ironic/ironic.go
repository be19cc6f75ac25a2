package ironic

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/identity"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// Options are what differs between tests. The zero value is an Ironic for hosts of all drivers that
// boot by PXE, with a directory of the test and free ports.
type Options struct {
	Settings func(*ironic.Settings) // changes them before they are rendered; may be nil
	// State is layout.State outside of Ironic's root, so that a test can start Ironic again with
	// what the former one has left. Empty for a new one.
	State string
	// Before is called with the directories State and Run, before Ironic starts; may be nil.
	Before func(state, run string)
	// Writable has Ironic write wherever it wants, for a test that looks where that is. On a machine
	// it writes below State alone.
	Writable bool
	// Capabilities are kept, such as net_raw; none by default, as in the container.
	Capabilities []string
	// In runs what starts Ironic, and what connects to it, in another network; nil for this one.
	In func(func() error) error
}

// Server is an Ironic that runs.
type Server struct {
	URL      string // of its API
	Settings ironic.Settings
	State    string // layout.State outside of its root
	Roots    *x509.CertPool
	Account  identity.Account
	Client   *http.Client // which knows its certificate
	Started  time.Duration
	cmd      *exec.Cmd
	ended    chan struct{}
	log      *journal
}

// enter is run in a mount namespace of its own. Its arguments are the root, the outer directories
// State and Run, "ro" or "rw", the capabilities for setpriv, and the command. The mounts are those
// of the container.
const enter = `
R=$1 S=$2 U=$3 mode=$4 caps=$5
shift 5
mount --bind "$R" "$R"
mount -t proc proc "$R/proc"
mount --rbind /dev "$R/dev"
mount -t tmpfs tmpfs "$R/run"
mount -t tmpfs tmpfs "$R/tmp"
mkdir -p "$R` + layout.Run + `"
mount --bind "$S" "$R` + layout.State + `"
mount --bind "$U" "$R` + layout.Run + `"
mount -o remount,bind,$mode "$R"
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/tmp chroot "$R" \
    setpriv --no-new-privs --inh-caps=-all --bounding-set="$caps" "$@"
`

// Start runs Ironic until the test ends, and returns when its conductor serves drivers.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	need.Root(t)
	need.Command(t, "debootstrap")
	root, err := Root(t.Context(), slog.Default())
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs a root file system with Ironic: %v", err))
	}
	s := &Server{Settings: settings(t), State: o.State, ended: make(chan struct{}), log: &journal{}}
	if s.State == "" {
		s.State = t.TempDir()
	}
	if o.Settings != nil {
		o.Settings(&s.Settings)
	}
	if err := s.Settings.Validate(); err != nil {
		t.Fatal(err)
	}
	run := t.TempDir()
	s.write(t, run)
	if o.Before != nil {
		o.Before(s.State, run)
	}
	mode, caps := "ro", "-all"
	if o.Writable {
		mode = "rw"
	}
	for _, c := range o.Capabilities {
		caps += ",+" + c
	}
	args := append([]string{"--mount", "--propagation", "private", "sh", "-euc", enter, "enter", root, s.State, run, mode, caps},
		ironic.Command(layout.IronicConf, s.Settings.Paths)...)
	s.cmd = exec.Command("unshare", args...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	began := time.Now()
	start := s.cmd.Start
	if o.In != nil {
		start = func() error { return o.In(s.cmd.Start) }
		s.Client.Transport.(*http.Transport).DialContext = dialer(o.In)
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.cmd.Wait(); close(s.ended) }()
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("Ironic's log:\n%s", s.Log())
		}
	})
	s.await(t)
	s.Started = time.Since(began)
	return s
}

// dialer connects from another network.
func dialer(in func(func() error) error) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (c net.Conn, err error) {
		err = in(func() error {
			c, err = (&net.Dialer{}).DialContext(ctx, network, address)
			return err
		})
		return c, err
	}
}

// settings are those of a bootstrap machine, at free ports of the loopback.
func settings(t testing.TB) ironic.Settings {
	t.Helper()
	loopback := netip.MustParseAddr("127.0.0.1")
	s := ironic.Settings{
		API: netip.AddrPortFrom(loopback, freePort(t)), HTTP: netip.AddrPortFrom(loopback, freePort(t)),
		Paths: ironic.Machine(),
		Times: ironic.Times{CallBack: 30 * time.Minute, Retry: 10 * time.Minute, Heartbeat: 30 * time.Second},
	}
	for _, driver := range []string{"redfish", "idrac-redfish", "ipmi"} {
		s.Hosts = append(s.Hosts, ironic.Host{Driver: driver, Boot: ironic.PXE})
	}
	return s
}

// write makes the files that Ironic reads, and the directories that it has on a machine.
func (s *Server) write(t testing.TB, run string) {
	t.Helper()
	outside := func(path string) string {
		if below, ok := strings.CutPrefix(path, layout.Run); ok {
			return filepath.Join(run, below)
		}
		return filepath.Join(s.State, strings.TrimPrefix(path, layout.State))
	}
	p := s.Settings.Paths
	for _, dir := range []string{p.State, p.HTTP, p.TFTP, p.Images, filepath.Dir(layout.IronicConf)} {
		if err := os.MkdirAll(outside(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files := identity.Files{Certificate: outside(p.Certificate), Key: outside(p.Key), Account: outside(layout.Account), Htpasswd: outside(p.Htpasswd)}
	if _, err := files.Ensure([]string{"localhost", s.Settings.API.Addr().String()}, time.Now()); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{layout.IronicConf: ironic.Config(s.Settings), p.Template: ironic.Template(s.Settings), p.Script: ironic.Script()} {
		if err := os.WriteFile(outside(path), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if s.Roots, err = files.Roots(); err != nil {
		t.Fatal(err)
	}
	if s.Account, err = files.Credentials(); err != nil {
		t.Fatal(err)
	}
	s.URL = "https://" + s.Settings.API.String()
	s.Client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.Roots}}}
}

// await waits until a driver has a conductor.
func (s *Server) await(t testing.TB) {
	t.Helper()
	const enough = 2 * time.Minute
	var last string
	for end := time.Now().Add(enough); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		select {
		case <-s.ended:
			t.Fatalf("Ironic ended before it served: %v", s.cmd.ProcessState)
		default:
		}
		var list struct{ Drivers []struct{ Hosts []string } }
		code, body, err := s.Do(t.Context(), http.MethodGet, "/v1/drivers", nil)
		if err == nil && code == http.StatusOK && json.Unmarshal(body, &list) == nil && len(list.Drivers) > 0 && len(list.Drivers[0].Hosts) > 0 {
			return
		}
		last = fmt.Sprintf("%d %s %v", code, body, err)
	}
	t.Fatalf("Ironic did not serve within %v: %s", enough, last)
}

// Do sends a request with the account, in the newest version of the API.
func (s *Server) Do(ctx context.Context, method, path string, body []byte) (code int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("X-OpenStack-Ironic-API-Version", "latest")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	request.SetBasicAuth(s.Account.Username, s.Account.Password.Reveal())
	response, err := s.Client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// PID is Ironic's process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Log is what Ironic has printed.
func (s *Server) Log() string { return s.log.String() }

// Stop sends SIGTERM, and returns how long Ironic took to end. It fails the test if Ironic is not
// gone after a time.
func (s *Server) Stop(t testing.TB, within time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // fails after the exit only
	select {
	case <-s.ended:
	case <-time.After(within):
		t.Errorf("Ironic runs on %v after SIGTERM", within)
		s.Kill()
	}
	return time.Since(began)
}

// Kill ends Ironic at once.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // fails after the exit only
	<-s.ended
}

// journal is a log that is read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}
