package fabric_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/speaker"
	"github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/fabric"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// machine is a bootstrap machine: the room, its decision about the release, and the speaker, which
// runs beside it in the place of a container. Its API server is a FAKE, which is what a test says.
type machine struct {
	*lab.Host
	*speakdir.Monitor
	*vip.Watch
	t       testing.TB
	program string
	sockets string
	api     atomic.Int32 // health.API
	heir    atomic.Bool

	line notes

	mu        sync.Mutex
	announced []netip.Addr
	running   *exec.Cmd
	ended     chan struct{}
}

// compile is the plan of a cluster in the fabric: two racks, and VIPs of both families.
func compile(t testing.TB) plan.Plan {
	t.Helper()
	ingress4, ingress6 := fabric.VIP4.Next(), fabric.VIP6.Next()
	c := spec.Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3,
		APIVIPs: []netip.Addr{fabric.VIP4, fabric.VIP6}, IngressVIPs: []netip.Addr{ingress4, ingress6},
		Images: map[string]string{spec.FRRImage: "registry.example.com/frr:1"},
	}
	c.Routing = spec.Routing{Management: routing.BGP, BGP: routing.BGPSettings{ASN: fabric.Hosts}}
	for rack := 1; rack <= 2; rack++ {
		four, six := fabric.RackAddress(rack, 1)
		c.MachineNetworks = append(c.MachineNetworks, four.Masked(), six.Masked())
		asn := fabric.FirstASN + bgp.ASN(rack-1)
		for _, network := range []netip.Prefix{four, six} {
			r := routing.Rack{Network: network.Masked()}
			for _, leaf := range []netip.Prefix{four, six} {
				r.Peers = append(r.Peers, routing.Peer{Address: leaf.Addr(), ASN: asn})
			}
			c.Routing.BGP.Racks = append(c.Routing.BGP.Racks, r)
		}
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newMachine adds the machine to the first rack, and has its room run until the test ends.
func newMachine(t testing.TB, f *fabric.Fabric, program string, p plan.Plan) *machine {
	t.Helper()
	m := &machine{Host: f.Host("boot", 1, 10), Monitor: &speakdir.Monitor{Dir: speakdir.Dir(t.TempDir())}, t: t, program: program, sockets: daemons.Directory(t)}
	m.api.Store(int32(health.Ready))
	m.listen()
	log, wake := slog.New(slog.DiscardHandler), loop.NewWake()
	m.Watch = vip.NewWatch(release.State{}, m, func(release.Memory) error { return nil }, wake)
	room := speaker.New(speaker.Options{Plan: p, Host: m, Daemon: m, Notifier: &m.line, Now: time.Now})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := m.Watch.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	running.Go(func() {
		steps := loop.Steps[speaker.Snapshot, speaker.Desired]{Observe: room.Observe, Decide: room.Decide, Apply: room.Apply, Leave: room.Leave}
		if err := loop.Run(ctx, steps, wake, time.Second, log); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
		if _, err := os.Stat(m.At(spoken.MonitorFile)); err == nil {
			t.Error("the program has ended in order, and has left its lock behind")
		}
		if t.Failed() {
			text, _ := os.ReadFile(m.At("log"))
			t.Logf("boot: %s\n%s", m.line.String(), text)
		}
	})
	return m
}

func (m *machine) listen() {
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, m.Name) })}
	listener, err := m.Listen("[::]:6443")
	if err != nil {
		m.t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }() // it ends with the test
	m.t.Cleanup(func() { _ = server.Close() })
}

// notes are what a service manager was notified of last.
type notes struct{ text atomic.Pointer[string] }

func (n *notes) Ready() error { return nil }

func (n *notes) Status(text string) error { n.text.Store(&text); return nil }

func (n *notes) String() string {
	if text := n.text.Load(); text != nil {
		return *text
	}
	return ""
}

func (m *machine) Links() (s addr.Snapshot, err error) {
	err = m.Do(func() (err error) {
		s, err = link.Snapshot()
		return err
	})
	return s, err
}

func (m *machine) Rack() (string, error)            { return "", nil }
func (m *machine) Nodes() []addr.Candidate          { return nil }
func (m *machine) KeepNodes([]addr.Candidate) error { return nil }

func (m *machine) Announced() []netip.Addr {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.announced
}

func (m *machine) Keep(vips []netip.Addr) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.announced = vips
	return nil
}

func (m *machine) API(context.Context) health.API { return health.API(m.api.Load()) }
func (m *machine) Ironic(context.Context) bool    { return false }

func (m *machine) Heir(context.Context) release.Heir {
	if m.heir.Load() {
		return release.ReadyHeir
	}
	return release.NoHeir
}

// Ensure starts the speaker with the options of its container.
func (m *machine) Ensure(context.Context, container.Spec) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running != nil {
		return nil
	}
	if err := m.ForgetStatus(); err != nil {
		return err
	}
	log, err := os.OpenFile(m.At("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := m.Command(context.Background(), m.program, "--run-dir", string(m.Dir), "--sockets", m.sockets, "--real-time")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	m.running, m.ended = cmd, ended
	go func() { _ = cmd.Wait(); close(ended) }()
	return nil
}

// Stop ends the speaker.
func (m *machine) Stop(context.Context, string) error {
	m.mu.Lock()
	cmd, ended := m.running, m.ended
	m.running = nil
	m.mu.Unlock()
	if cmd == nil {
		return nil
	}
	_ = cmd.Process.Signal(syscall.SIGTERM) // which may have ended
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return fmt.Errorf("the speaker of %s does not end", m.Name)
	}
	return nil
}

func (m *machine) runs() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running != nil
}
