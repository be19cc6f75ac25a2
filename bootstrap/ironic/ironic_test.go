package ironic

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// machine is a FAKE: a bootstrap machine and its container engine, whose state a test sets.
type machine struct {
	orders      orders.Orders
	unreadable  error
	reports     []orders.Report
	certificate string
	fails       map[string]error // by step
	steps       []string
	files       Files
	own         netip.Addr
	grub        string
	drivers     []string
	open        bool // something listens at Ironic's port
	runs        []container.Spec
	running     bool
}

func (m *machine) step(name string) error {
	m.steps = append(m.steps, name)
	return m.fails[name]
}

func (m *machine) Orders() (orders.Orders, error) { return m.orders, m.unreadable }

func (m *machine) Report(r orders.Report) error {
	m.reports = append(m.reports, r)
	return nil
}

func (m *machine) Identify([]string) ([]byte, error) {
	return []byte(m.certificate), m.step("identify")
}

func (m *machine) Write(f Files, archive []byte) error {
	if m.files = f; len(archive) == 0 {
		return errors.New("no archive")
	}
	return m.step("write")
}

func (m *machine) Has(a netip.Addr) (bool, error) { return a == m.own, m.step("has") }

func (m *machine) Loader() (string, error) { return m.grub, m.step("loader") }

func (m *machine) Trust() error { return m.step("trust") }

func (m *machine) Serves(context.Context) ([]string, error) { return m.drivers, m.step("serves") }

func (m *machine) Closed(context.Context) bool { return !m.open }

func (m *machine) Ensure(_ context.Context, s container.Spec) error {
	if err := m.step("ensure"); err != nil {
		return err
	}
	if len(m.runs) == 0 || !m.running || m.runs[len(m.runs)-1].Digest() != s.Digest() {
		m.runs = append(m.runs, s)
	}
	m.running, m.open = true, true
	return nil
}

func (m *machine) Stop(context.Context, string) error {
	if err := m.step("stop"); err != nil {
		return err
	}
	m.running, m.open = false, false
	return nil
}

func (m *machine) Running() bool { return m.running }

func (m *machine) Ready() error        { return nil }
func (m *machine) Status(string) error { return nil }

func thePlan() plan.Plan {
	return plan.Plan{
		Ports:  map[string]uint16{port.Ironic: 6385, port.ProvisioningHTTP: 6180},
		Images: map[string]string{spec.IronicImage: "registry.example.com/ironic:1"},
		Provisioning: &provision.Plan{
			TLSNames: []string{"localhost", "172.22.0.2"},
			Hosts: []provision.Host{
				{Name: "master-0", Phase: provision.Bootstrap, Driver: "redfish", Boot: provision.PXEUEFI, Ironic: "https://172.22.0.2:6385"},
				{Name: "worker-0", Phase: provision.Cluster, Driver: "ipmi", Boot: provision.PXEBIOS, Ironic: "https://172.22.0.3:6385"},
			},
			Deadlines: []provision.Deadline{{Step: "call-back", Seconds: 1800}, {Step: "boot-retry", Seconds: 600}},
		},
	}
}

func room(m *machine) (*Room, *time.Time) {
	now := time.Unix(1_700_000_000, 0)
	return New(Options{Plan: thePlan(), Host: m, Daemon: m, Notifier: m, Now: func() time.Time { return now }}), &now
}

var on = orders.Orders{Generation: 3, On: []orders.Part{orders.Ironic}, Why: "deploy"}

// round runs the steps, and returns the last report.
func (m *machine) round(t *testing.T, r *Room) (orders.Report, error) {
	t.Helper()
	m.steps = nil
	o, err := r.Observe(t.Context())
	if err != nil {
		return orders.Report{}, err
	}
	d, _ := r.Decide(o)
	err = r.Apply(t.Context(), d)
	if len(m.reports) == 0 {
		t.Fatal("no report")
	}
	return m.reports[len(m.reports)-1], err
}

func (m *machine) expect(t *testing.T, r *Room, isOn, ready bool, why string) {
	t.Helper()
	got, _ := m.round(t, r)
	if got.On != isOn || got.Ready != ready || !strings.Contains(got.Why, why) || got.Generation != m.orders.Generation || got.Part != orders.Ironic {
		t.Errorf("%+v, want on %v, ready %v, %q", got, isOn, ready, why)
	}
}

func TestRoom(t *testing.T) {
	m := &machine{certificate: "one"}
	r, now := room(m)
	m.expect(t, r, false, true, "does not run")
	m.orders = on
	m.expect(t, r, true, false, "no conductor")
	if want := []string{"identify", "trust", "write", "ensure", "serves"}; !slices.Equal(m.steps, want) {
		t.Errorf("%v, want %v: Ironic must find its files", m.steps, want)
	}
	m.drivers = []string{"ipmi", "redfish"}
	m.expect(t, r, true, true, "serves the drivers ipmi, redfish")
	var page metrics.Page
	r.Metrics(&page)
	n := len(m.reports)
	m.expect(t, r, true, true, "serves")
	if len(m.reports) != n {
		t.Error("an equal report was written at once")
	}
	*now = now.Add(5 * time.Second)
	m.expect(t, r, true, true, "serves")
	if len(m.reports) != n+1 {
		t.Error("no report in 5 s")
	}
	m.fails = map[string]error{"serves": errors.New("refused")}
	m.expect(t, r, true, false, "does not serve yet: refused")
	m.fails = nil
	m.orders = orders.Orders{Generation: 4}
	m.expect(t, r, false, true, "does not run")
	if !slices.Equal(m.steps, []string{"stop"}) || m.running {
		t.Errorf("%v", m.steps)
	}
}

// Whatever is not known to be gone counts as on.
func TestRoom_Off(t *testing.T) {
	m := &machine{fails: map[string]error{"stop": errors.New("podman does not answer")}}
	r, _ := room(m)
	m.expect(t, r, true, false, "podman does not answer")
	m.fails = nil
	m.expect(t, r, false, true, "does not run")
	r.Daemon = stubborn{m}
	m.open = true
	m.expect(t, r, true, false, "a program listens at Ironic's port")
}

// stubborn is a daemon whose container has ended, while its port is open.
type stubborn struct{ *machine }

func (s stubborn) Stop(context.Context, string) error { return nil }

// Each step that fails is in the report, and stops what comes after it.
func TestRoom_Faults(t *testing.T) {
	for i, step := range []string{"identify", "trust", "write", "ensure", "serves"} {
		m := &machine{orders: on, drivers: []string{"redfish"}, fails: map[string]error{step: errors.New("no space left")}}
		r, _ := room(m)
		m.expect(t, r, true, false, "no space left")
		if len(m.steps) != i+1 {
			t.Errorf("%s failed, and %v were taken", step, m.steps)
		}
	}
	m := &machine{orders: on, unreadable: errors.New("it is cut off")}
	r, _ := room(m)
	if _, err := m.round(t, r); err == nil || m.steps != nil {
		t.Errorf("orders that cannot be read: %v, %v", err, m.steps)
	}
}

// With a provisioning network Ironic listens at the machine's address there, and starts once the machine
// has it. What runs goes on while the address is away.
func TestRoom_Bound(t *testing.T) {
	m := &machine{certificate: "c", orders: on, drivers: []string{"redfish"}}
	r, _ := room(m)
	own := netip.MustParseAddr("172.22.0.2")
	if report, err := m.round(t, r); err != nil || !report.Ready || !strings.Contains(string(m.files.Config), "\nhost_ip = 0.0.0.0\n") {
		t.Errorf("at a VIP: %+v, %v", report, err)
	}
	m = &machine{certificate: "c", orders: on, drivers: []string{"redfish"}}
	r, _ = room(m)
	r.Plan.Provisioning.BootstrapIP = own
	if report, err := m.round(t, r); err == nil || report.Ready || !strings.Contains(report.Why, "no address 172.22.0.2 yet") || slices.Contains(m.steps, "ensure") {
		t.Errorf("without its address: %+v, %v, %q", report, err, m.steps)
	}
	m.own = own
	if report, err := m.round(t, r); err != nil || !report.Ready || !strings.Contains(string(m.files.Config), "\nhost_ip = 172.22.0.2\n") {
		t.Errorf("with its address: %+v, %v", report, err)
	}
	m.own = netip.Addr{}
	if report, err := m.round(t, r); err == nil || report.Ready || !m.running || slices.Contains(m.steps, "stop") {
		t.Errorf("while its address is away: %+v, %v, %q", report, err, m.steps)
	}
}

// Where a host boots by virtual media, Ironic waits for the boot loader, and writes its configuration
// where that reads it.
func TestRoom_Loader(t *testing.T) {
	m := &machine{certificate: "c", orders: on, drivers: []string{"redfish"}, grub: "EFI/centos/grub.cfg",
		fails: map[string]error{"loader": errors.New("esp.img is not fetched yet")}}
	r, _ := room(m)
	if report, err := m.round(t, r); err != nil || !report.Ready || slices.Contains(m.steps, "loader") {
		t.Errorf("without such a host: %+v, %v, %q", report, err, m.steps)
	}
	h := &r.Plan.Provisioning.Hosts[0]
	h.Driver, h.Boot, h.Media = "redfish-virtualmedia", provision.VirtualMedia, "https://192.0.2.5:6183/"
	if report, err := m.round(t, r); err == nil || report.Ready || !strings.Contains(report.Why, "is not fetched yet") || slices.Contains(m.steps, "ensure") {
		t.Errorf("before it is fetched: %+v, %v, %q", report, err, m.steps)
	}
	m.fails = nil
	if report, err := m.round(t, r); err != nil || !report.Ready || !strings.Contains(string(m.files.Config), "\ngrub_config_path = EFI/centos/grub.cfg\n") {
		t.Errorf("after it is fetched: %+v, %v", report, err)
	}
}

// What Ironic reads at its start only makes another container, and nothing else does.
func TestRoom_Replaces(t *testing.T) {
	m := &machine{orders: on, certificate: "one", drivers: []string{"redfish"}}
	r, _ := room(m)
	for range 3 {
		m.expect(t, r, true, true, "")
	}
	m.orders.Generation++
	if m.expect(t, r, true, true, ""); len(m.runs) != 1 {
		t.Errorf("%d containers, want 1", len(m.runs))
	}
	m.certificate = "two"
	if m.expect(t, r, true, true, ""); len(m.runs) != 2 {
		t.Error("another certificate, and the same container")
	}
	r.Plan.Provisioning.Deadlines[0].Seconds++
	if m.expect(t, r, true, true, ""); len(m.runs) != 3 {
		t.Error("another configuration, and the same container")
	}
}

// TestRoom_Leave holds that a restart of the program does not interrupt an installation.
func TestRoom_Leave(t *testing.T) {
	m := &machine{orders: on, running: true, open: true}
	r, _ := room(m)
	if err := r.Leave(t.Context()); err != nil || !m.running {
		t.Errorf("%v, running %v", err, m.running)
	}
	m.orders = orders.Orders{}
	if err := r.Leave(t.Context()); err != nil || m.running {
		t.Errorf("%v, running %v", err, m.running)
	}
	m.unreadable = errors.New("it is cut off")
	if err := r.Leave(t.Context()); err == nil {
		t.Error("orders that cannot be read are no error")
	}
}

// TestContainer holds the least privilege that Ironic works with; test/ironic runs it so.
func TestContainer(t *testing.T) {
	c := Container(thePlan(), Files{}, nil)
	if len(c.Capabilities) != 0 || c.Image != "registry.example.com/ironic:1" || c.Env["NO_PROXY"] != "*" {
		t.Errorf("%+v", c)
	}
	for _, m := range c.Mounts {
		if m.Source != m.Target || !m.ReadOnly && m.Source != layout.State {
			t.Errorf("it can write to %+v", m)
		}
	}
}

// TestRoom_Settings holds that a plan without settings for Ironic is reported, with its host.
func TestRoom_Settings(t *testing.T) {
	p := thePlan()
	p.Provisioning.Hosts[0].Ironic = "https://ironic.example.com"
	m := &machine{orders: on}
	r, _ := room(m)
	r.Plan = p
	m.expect(t, r, true, false, `host "master-0"`)
}
