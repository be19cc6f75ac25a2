package handover

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	room "github.com/onprem-infra/onprem-infra/bootstrap/vip"
	"github.com/onprem-infra/onprem-infra/bootstrap/vip/conflict"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// machine is the bootstrap machine's room on a host of the lab: its own decisions and its own looks
// at the real API servers, with a supervisor in the place of the container that runs it.
type machine struct {
	*router
	watch   *room.Watch
	masters []*router
	client  *http.Client

	mu        sync.Mutex
	published [][]netip.Addr
}

// nodes are the masters as the API would list them.
func (m *machine) Nodes() []addr.Candidate {
	var nodes []addr.Candidate
	for _, r := range m.masters {
		nodes = append(nodes, addr.Candidate{Name: r.Name, InternalIPs: []netip.Addr{r.ip}})
	}
	return nodes
}

func (m *machine) Links() (s addr.Snapshot, err error) {
	err = m.Do(func() (err error) {
		s, err = link.Snapshot()
		return err
	})
	return s, err
}

func (m *machine) Keep([]addr.Candidate) error { return nil }

func (m *machine) Verdict(ctx context.Context) (release.Verdict, error) { return m.watch.Verdict(ctx) }

func (m *machine) Conflicts(context.Context) (map[netip.Addr]conflict.Finding, error) {
	return nil, nil
}

func (m *machine) Status() (supervised.Status, error) { return m.status(), nil }

func (m *machine) Propose(config keepalived.Config) error {
	here, err := keepalived.Parse(bytes.ReplaceAll(keepalived.Render(config), []byte(supervised.RunDir), []byte(m.dir)))
	if err == nil {
		m.proposeConfig(here)
	}
	return err
}

func (m *machine) Release(now bool) error {
	if now {
		m.leave()
		return nil
	}
	return m.forget()
}

func (m *machine) Announce(addresses []netip.Addr) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.published = append(m.published, addresses)
}

func (m *machine) Listen([]clash.Instance) {}

func (m *machine) OtherRouters() clash.Snapshot { return clash.Snapshot{} }

func (m *machine) Started() []vrrp.InstanceName { return nil }

func (m *machine) Start([]vrrp.InstanceName) error { return nil }

func (m *machine) Ensure(context.Context, container.Spec) error {
	if m.done == nil {
		m.start()
	}
	return nil
}

func (m *machine) Stop(context.Context, string) error {
	m.stop()
	return nil
}

func (m *machine) askAPI(ctx context.Context, r *router) health.API {
	state, _ := probe.NewAPI(netip.AddrPortFrom(r.ip, 6443).String(), func() (*http.Client, error) { return m.client, nil }).Probe(ctx)
	return state
}

func (m *machine) API(ctx context.Context) health.API { return m.askAPI(ctx, m.router) }

func (m *machine) Ironic(context.Context) bool { return false }

func (m *machine) Heir(ctx context.Context) release.Heir {
	var seen []health.API
	for _, r := range m.masters {
		seen = append(seen, m.askAPI(ctx, r))
	}
	return release.HeirAmong(seen)
}

// silent tells no service manager anything.
type silent struct{}

func (silent) Ready() error        { return nil }
func (silent) Status(string) error { return nil }

// run turns the room until the test ends.
func (m *machine) run(t *testing.T) {
	t.Helper()
	p, err := plan.Compile(spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: vrrp.ProfileCompat,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, APIVIPs: []netip.Addr{vip}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Images: map[string]string{"keepalivedImage": "registry.example.com/keepalived:1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	log, wake := slog.New(slog.NewTextHandler(io.Discard, nil)), loop.NewWake()
	m.watch = room.NewWatch(release.State{}, m, func(release.Memory) error { return nil }, wake)
	r := room.New(room.Options{Plan: p, Host: m, Daemon: m, Notifier: silent{}, Now: time.Now})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := m.watch.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	running.Go(func() {
		steps := loop.Steps[room.Snapshot, room.Desired]{Observe: r.Observe, Decide: r.Decide, Apply: r.Apply, Leave: r.Leave}
		if err := loop.Run(ctx, steps, wake, time.Second, log); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}
