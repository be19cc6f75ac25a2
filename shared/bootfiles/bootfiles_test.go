package bootfiles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bootfiles/item"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/access"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

const uuid = "8a2f7c1e-0000-4000-8000-000000000001"

func image(name string) string {
	return "https://images.example.com/" + name + "@sha256:" + strings.Repeat("0a", 32)
}

func examplePlan(change func(*plan.Plan)) plan.Plan {
	p := plan.Plan{Ports: port.Numbers(nil), VIPs: plan.VIPs{API: []netip.Addr{netip.MustParseAddr("192.0.2.5")}},
		Images: map[string]string{spec.IronicImage: "r/ironic:1", spec.IronicAgentImage: "r/agent:1", spec.OSImage: image("os.raw.gz")},
		Provisioning: &provision.Plan{Network: provisioning.Managed, Address: provisioning.Two,
			BootstrapIP: netip.MustParseAddr("172.22.0.2"), IP: netip.MustParseAddr("172.22.0.3"),
			Hosts: []provision.Host{
				{Name: "master-0", Phase: provision.Bootstrap, MAC: mac.MAC{2, 0, 0, 0, 0, 1}, Address: netip.MustParseAddr("172.22.0.11"), BMC: "redfish://192.0.2.101/redfish/v1/Systems/1", Boot: provision.PXEUEFI},
				{Name: "worker-0", Phase: provision.Cluster, MAC: mac.MAC{2, 0, 0, 0, 0, 2}, Address: netip.MustParseAddr("172.22.0.12"), BMC: "redfish://192.0.2.102/redfish/v1/Systems/1", Boot: provision.PXEBIOS},
			}}}
	if change != nil {
		change(&p)
	}
	return p
}

// TestOpen_Secrets holds that nothing is open in the clear but what hosts boot from.
func TestOpen_Secrets(t *testing.T) {
	for _, tt := range []struct {
		name       string
		plain, tls bool
	}{
		{"boot.ipxe", true, false}, {"autoexec.ipxe", true, false}, {"undionly.kpxe", true, false}, {"snponly.efi", true, false},
		{"arm64-efi/snponly.efi", true, false}, {"arm64-efi/autoexec.ipxe", true, false}, {"hosts/52-54-00-00-00-01.ipxe", true, false},
		{"pxelinux.cfg/52-54-00-00-00-01", true, false}, {uuid + "/config", true, false}, {uuid + "/deploy_kernel", true, false}, {uuid + "/deploy_ramdisk", true, false},
		{"images/agent.kernel", true, true}, {"images/os.raw", true, true}, {"images/os.raw.sha256", true, true}, {"agent_images/" + uuid, true, false},
		{"redfish/boot-" + uuid + ".iso", false, true}, {"ilo/x", false, true}, {"redfish", false, false}, {"ilo", false, false}, {"images", false, false},
		{"configdrive-" + uuid, false, false}, {"configdrives/" + uuid, false, false}, {uuid + "/configdrive", false, false}, {uuid + "/ks.cfg", false, false}, {uuid + ".iso", false, false},
		{uuid + "/x/deploy_kernel", false, false}, {"uuid/deploy_kernel", false, false}, {"master_iso_images/x", false, false}, {"hosts/x", false, false}, {"x", false, false}, {"", false, false},
		{"redfish/x.efi", false, true}, {"redfish/config", false, true}, {"pxelinux.cfg/a/b", false, false}, {"agent_images/a/b", false, false}, {"REDFISH/a", false, false},
	} {
		if plain, tls := Open(tt.name, false), Open(tt.name, true); plain != tt.plain || tls != tt.tls {
			t.Errorf("%s is open: %v, over TLS %v; want %v, %v", tt.name, plain, tls, tt.plain, tt.tls)
		}
	}
}

// TestAddresses_OfNode holds that a node serves at all of its addresses, as one of them comes later.
func TestAddresses_OfNode(t *testing.T) {
	if plain, tls := Addresses(examplePlan(nil), provision.Cluster); fmt.Sprint(plain, tls) != "[0.0.0.0:6180] [0.0.0.0:6183]" {
		t.Errorf("%v, %v", plain, tls)
	}
}

func TestAddresses(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*plan.Plan)
		want   string
	}{
		"managed": {nil, "[172.22.0.2:6180] [172.22.0.2:6183]"},
		"one address": {func(p *plan.Plan) {
			p.Provisioning.Address = provisioning.One
			p.Provisioning.BootstrapIP = netip.Addr{}
		}, "[172.22.0.3:6180] [172.22.0.3:6183]"},
		"virtual media":  {func(p *plan.Plan) { p.Provisioning.Hosts[0].Media = "https://192.0.2.5:6183" }, "[172.22.0.2:6180] [172.22.0.2:6183 192.0.2.5:6183]"},
		"of the cluster": {func(p *plan.Plan) { p.Provisioning.Hosts[1].Media = "https://192.0.2.6:6183" }, "[172.22.0.2:6180] [172.22.0.2:6183]"},
		"no network": {func(p *plan.Plan) {
			p.Provisioning.BootstrapIP, p.Provisioning.IP = netip.Addr{}, netip.Addr{}
			p.VIPs.API = append(p.VIPs.API, netip.MustParseAddr("2001:db8::5"))
			p.Provisioning.Hosts[0].Media = "https://[2001:db8::5]:6183"
		}, "[192.0.2.5:6180 [2001:db8::5]:6180] [192.0.2.5:6183 [2001:db8::5]:6183]"},
	} {
		if plain, tls := Addresses(examplePlan(tt.change), provision.Bootstrap); fmt.Sprint(plain, " ", tls) != tt.want {
			t.Errorf("%s: %v %v, want %s", name, plain, tls, tt.want)
		}
	}
}

// machine is a FAKE: a host, its server and what gets the items, all as a test sets them.
type machine struct {
	mu sync.Mutex

	orders      orders.Orders
	reports     []orders.Report
	certificate bool
	happened    []events.Event
	full        error // of the disk with the events
	noReport    error // why no report can be written

	open   bool
	openAt string
	opened int
	port   error // why the ports cannot be taken
	answer error // of the server to itself
	asked  []string

	here     map[string]bool // items whose files are there
	supply   func(ctx context.Context, of item.Item, progress func(done, total int64)) error
	supplied []string
	checked  int
	same     bool
	proceed  bool // what waits goes on
	ready    int
}

func (m *machine) do(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *machine) Orders() (o orders.Orders, err error) {
	m.do(func() { o = m.orders })
	return o, nil
}
func (m *machine) Report(r orders.Report) (err error) {
	m.do(func() {
		if err = m.noReport; err == nil {
			m.reports = append(m.reports, r)
		}
	})
	return err
}
func (m *machine) Certificate() (is bool) { m.do(func() { is = m.certificate }); return is }
func (m *machine) Append(all ...events.Event) error {
	if m.full != nil {
		return m.full
	}
	m.do(func() { m.happened = append(m.happened, all...) })
	return nil
}
func (m *machine) Open(_ context.Context, plain, tls []netip.AddrPort) error {
	if m.port != nil {
		return m.port
	}
	m.do(func() { m.open, m.openAt = true, fmt.Sprint(plain, tls); m.opened++ })
	return nil
}
func (m *machine) Close() { m.do(func() { m.open = false }) }
func (m *machine) Err() error {
	if !m.open {
		return errors.New("it is not open")
	}
	return nil
}
func (m *machine) Connections() int { return 7 }
func (m *machine) Ask(_ context.Context, at netip.AddrPort, tls bool, name string) (int64, error) {
	m.do(func() { m.asked = append(m.asked, fmt.Sprint(at.Port(), " ", name)) })
	return 100, m.answer
}
func (m *machine) Check(of item.Item) (files []File, err error) {
	m.do(func() {
		m.checked++
		if m.here[of.Name] {
			files = filesOf(of)
		}
	})
	return files, nil
}
func (m *machine) Supply(ctx context.Context, of item.Item, progress func(done, total int64)) ([]File, error) {
	m.do(func() { m.supplied = append(m.supplied, of.Name) })
	if err := m.supply(ctx, of, progress); err != nil {
		return nil, err
	}
	return filesOf(of), nil
}
func (m *machine) Same([]File) (same bool)  { m.do(func() { same = m.same }); return same }
func (m *machine) Ready() error             { m.ready++; return nil }
func (m *machine) Status(text string) error { return nil }

func filesOf(of item.Item) (files []File) {
	for _, to := range of.Targets() {
		files = append(files, File{Path: to, Size: 100})
	}
	return files
}

// wait waits until a test lets it go on. A channel that was made outside of the bubble of virtual
// time would stop that.
func (m *machine) wait(ctx context.Context) error {
	for proceed := false; !proceed; m.do(func() { proceed = m.proceed }) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

func (m *machine) report() orders.Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reports[len(m.reports)-1]
}

const every = time.Second

// run runs a room in virtual time while drive does something to its machine.
func run(t *testing.T, m *machine, drive func(r *Room, after func(time.Duration) orders.Report)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m.same = true
		wake := loop.NewWake()
		r, err := New(Options{Plan: examplePlan(nil), Phase: provision.Bootstrap, Host: m, Server: m, Supplier: m, Notifier: m, Wake: wake, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- loop.Run(ctx, loop.Steps[Snapshot, Desired]{Observe: r.Observe, Decide: r.Decide, Publish: r.Publish, Apply: r.Apply, Leave: r.Leave}, wake, every, slog.New(slog.DiscardHandler))
		}()
		time.Sleep(every / 2) // else a test and a round would be at one instant
		drive(r, func(d time.Duration) orders.Report {
			m.do(func() {}) // the race detector knows only locks: what the test reads is read before
			time.Sleep(d)
			synctest.Wait()
			return m.report()
		})
		cancel()
		if err := <-done; err != nil {
			t.Errorf("leave: %v", err)
		}
		if last := m.report(); m.open || last.On || last.Ready {
			t.Errorf("at the end: open %v, %+v", m.open, last)
		}
	})
}

var on = orders.Orders{Generation: 3, On: []orders.Part{orders.Address, orders.HTTP}, Why: "the hosts are to be deployed"}

func TestRoom_Story(t *testing.T) {
	m := &machine{here: map[string]bool{spec.IronicImage: true}}
	m.supply = func(ctx context.Context, of item.Item, progress func(done, total int64)) error {
		if of.Name == spec.IronicAgentImage {
			return nil
		}
		time.Sleep(every / 5)
		for i := range int64(11) {
			progress(i*12_000_000, 286_000_000)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
			}
		}
		return m.wait(ctx)
	}
	run(t, m, func(r *Room, after func(time.Duration) orders.Report) {
		if got := after(0); got.On || !got.Ready || got.Generation != 0 || got.Why != "its ports are closed" || m.checked != 0 || m.ready != 1 {
			t.Errorf("without orders: %+v, %d checks", got, m.checked)
		}
		m.do(func() { m.orders = on })
		if got := after(time.Second); !got.On || got.Ready || got.Generation != 3 || m.openAt != "[172.22.0.2:6180] [172.22.0.2:6183]" {
			t.Errorf("with orders: %+v, open at %s", got, m.openAt)
		}
		if got := after(10 * time.Second); got.Ready || got.Why != "osImage: 108 of 286 MB, 12.0 MB/s" {
			t.Errorf("while an image is fetched: %+v", got)
		}
		for name, want := range map[string]Verdict{"images/os.raw": Later, "images/os.raw.sha256": Later, "images/agent.kernel": Served, "boot.ipxe": Served, "snponly.efi": Served, "redfish/x": Hidden} {
			if got := r.Judge(name, false); got != want {
				t.Errorf("%s is %d, want %d", name, got, want)
			}
		}
		m.do(func() { m.proceed = true })
		if got := after(time.Second); !got.Ready || got.Why != "serves at 172.22.0.2:6180; over TLS at port 6183 once Ironic's certificate is there" || r.Judge("images/os.raw", false) != Served {
			t.Errorf("when all is there: %+v", got)
		}
		want := "6180 arm64-efi/snponly.efi, 6180 images/agent.initramfs, 6180 images/agent.kernel, 6180 images/esp.img, 6180 images/os.raw, 6180 snponly.efi, 6180 undionly.kpxe"
		m.do(func() { m.asked = nil })
		after(askAgain + time.Second)
		if got := strings.Join(slices.Sorted(slices.Values(m.asked)), ", "); got != want {
			t.Errorf("asked itself for %s, want %s", got, want)
		}
		m.do(func() { m.certificate, m.asked = true, nil })
		if got := after(time.Second); !got.Ready || got.Why != "serves at 172.22.0.2:6180, and over TLS at 172.22.0.2:6183" || !slices.Contains(m.asked, "6183 images/os.raw") || slices.Contains(m.asked, "6183 snponly.efi") {
			t.Errorf("with a certificate: %+v, asked for %v", got, m.asked)
		}
		if !slices.Equal(m.supplied, []string{spec.IronicAgentImage, spec.OSImage}) && !slices.Equal(m.supplied, []string{spec.OSImage, spec.IronicAgentImage}) {
			t.Errorf("fetched %v", m.supplied)
		}
		m.do(func() { m.orders = orders.Orders{Generation: 4, Why: "all hosts are deployed"} })
		if got := after(2 * time.Second); got.On || !got.Ready || got.Generation != 4 || m.open {
			t.Errorf("off: %+v, open %v", got, m.open)
		}
	})
}

// TestRoom_Faults holds that each fault keeps the room from being ready, is reported, and is tried
// again, less and less often.
func TestRoom_Faults(t *testing.T) {
	all := map[string]bool{spec.IronicImage: true, spec.IronicAgentImage: true, spec.OSImage: true}
	for _, tt := range []struct {
		name string
		set  func(m *machine)
		want string
		heal func(m *machine)
	}{
		{"a port is taken", func(m *machine) { m.port = errors.New("port 6180 of 172.22.0.2 is taken") }, "opens its ports", func(m *machine) { m.port = nil }},
		{"no answer", func(m *machine) { m.answer = errors.New("ask for http://x: no route") }, "ask for http://x: no route", func(m *machine) { m.answer = nil }},
		{"a digest is wrong", func(m *machine) {
			delete(m.here, spec.OSImage)
			m.supply = func(context.Context, item.Item, func(done, total int64)) error {
				return errors.New("the SHA-256 is another")
			}
		}, "osImage: the SHA-256 is another", func(m *machine) { m.here[spec.OSImage] = true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &machine{here: map[string]bool{}, orders: on}
			for k := range all {
				m.here[k] = true
			}
			tt.set(m)
			run(t, m, func(_ *Room, after func(time.Duration) orders.Report) {
				if got := after(5 * time.Minute); got.Ready || !got.On || got.Why != tt.want {
					t.Errorf("%+v, want %q", got, tt.want)
				}
				if n := len(m.supplied); n > 5+5*60/30 {
					t.Errorf("%d attempts in 5 minutes", n)
				}
				m.do(func() { tt.heal(m) })
				if got := after(longestDelay + 2*time.Second); !got.Ready {
					t.Errorf("when it is well again: %+v", got)
				}
			})
		})
	}
}

// TestRoom_FailedIsFailed holds that a fault lasts until an attempt has succeeded: one that is under
// way is no recovery.
func TestRoom_FailedIsFailed(t *testing.T) {
	m := &machine{here: map[string]bool{spec.IronicImage: true, spec.IronicAgentImage: true}, orders: on}
	m.supply = func(ctx context.Context, _ item.Item, _ func(done, total int64)) error {
		if len(m.supplied) == 1 {
			return errors.New("the server is down")
		}
		<-ctx.Done()
		return ctx.Err()
	}
	run(t, m, func(r *Room, after func(time.Duration) orders.Report) {
		after(10 * time.Second)
		if err := r.Apply(t.Context(), Desired{On: true}); len(m.supplied) != 2 || err == nil || !strings.Contains(err.Error(), "the server is down") {
			t.Errorf("at attempt %d: %v", len(m.supplied), err)
		}
	})
}

// TestRoom_Changed holds that a file that is changed behind our back is not served, and not left.
func TestRoom_Changed(t *testing.T) {
	m := &machine{here: map[string]bool{spec.IronicImage: true, spec.IronicAgentImage: true, spec.OSImage: true}, orders: on}
	m.supply = func(ctx context.Context, _ item.Item, _ func(done, total int64)) error { return m.wait(ctx) }
	run(t, m, func(r *Room, after func(time.Duration) orders.Report) {
		if got := after(time.Second); !got.Ready {
			t.Fatalf("%+v", got)
		}
		m.do(func() { m.same = false; clear(m.here) })
		time.Sleep(time.Second)
		m.do(func() { m.same = true })
		if got := after(time.Second); got.Ready || r.Judge("images/os.raw", true) != Later {
			t.Errorf("a changed file is served: %+v", got)
		}
		m.do(func() { m.proceed = true })
		if got := after(2 * time.Second); !got.Ready || len(m.supplied) != 3 {
			t.Errorf("%+v, fetched %v", got, m.supplied)
		}
	})
}

// TestRoom_Cancels holds that a transfer under way ends with the orders.
func TestRoom_Cancels(t *testing.T) {
	m := &machine{here: map[string]bool{}, orders: on}
	ended := 0
	m.supply = func(ctx context.Context, _ item.Item, _ func(done, total int64)) error {
		<-ctx.Done()
		m.do(func() { ended++ })
		return fmt.Errorf("fetch: %w", ctx.Err())
	}
	run(t, m, func(_ *Room, after func(time.Duration) orders.Report) {
		after(time.Second)
		m.do(func() { m.orders = orders.Orders{Generation: 4} })
		if got := after(2 * time.Second); got.On || !got.Ready || ended != 3 {
			t.Errorf("%+v, %d of 3 transfers have ended", got, ended)
		}
		m.do(func() { m.orders = on })
		if got := after(time.Second); strings.Contains(got.Why, "cancel") || len(m.supplied) != 6 {
			t.Errorf("on again: %+v, fetched %v", got, m.supplied)
		}
	})
}

func TestRoom_Requests(t *testing.T) {
	m := &machine{here: map[string]bool{}, supply: func(context.Context, item.Item, func(done, total int64)) error { return nil }}
	run(t, m, func(r *Room, after func(time.Duration) orders.Report) {
		a := access.Access{At: time.Now(), Client: netip.MustParseAddr("172.22.0.11"), Method: "GET", File: "images/agent.kernel", Status: 200, Bytes: 5000, Took: time.Second}
		r.Ended(a)
		a.Client, a.File = netip.MustParseAddr("203.0.113.9"), "images/os.raw"
		r.Ended(a)
		a.At, a.Client, a.File = a.At.Add(time.Second), netip.MustParseAddr("203.0.113.10"), "pxelinux.cfg/02-00-00-00-00-02"
		r.Ended(a)
		a.Client, a.File, a.Bytes = r.Plan.Provisioning.Own(), "images/agent.initramfs", 0 // Ironic's, on this machine
		r.Ended(a)
		a.Method = "HEAD"
		r.Ended(a)
		after(time.Second)
		if len(m.happened) != 3 || m.happened[2].Host != "worker-0" || m.happened[0].Host != "master-0" || m.happened[0].MAC == (mac.MAC{}) || m.happened[0].Source != events.HTTP || m.happened[0].Kind != "kernel" ||
			!strings.Contains(m.happened[0].Detail, `"images/agent.kernel" 200, 5000 bytes in 1s`) || m.happened[1].Host != "" || m.happened[1].Kind != "image" {
			t.Errorf("happened: %+v", m.happened)
		}
		var page metrics.Page
		r.Metrics(&page)
		for _, want := range []string{"onprem_http_serving 0", `onprem_http_requests_total{kind="kernel"} 1`, `onprem_http_requests_total{kind="script"} 1`, "onprem_http_sent_bytes_total 15000", `onprem_http_item_ready{item="osImage"} 0`} {
			if !strings.Contains(string(page.Text()), want+"\n") {
				t.Errorf("the metrics lack %s:\n%s", want, page.Text())
			}
		}
	})
}

// TestRoom_NoEvents holds that a full disk for events keeps no host from its files, and that what happened
// meanwhile is written later, what was fetched of the image before all else.
func TestRoom_NoEvents(t *testing.T) {
	m := &machine{here: map[string]bool{spec.IronicImage: true, spec.IronicAgentImage: true, spec.OSImage: true}, orders: on, full: errors.New("no space")}
	run(t, m, func(r *Room, after func(time.Duration) orders.Report) {
		const last = 3*maxUnwritten - 1
		for i := range last + 1 {
			a := access.Access{At: time.Now(), Client: netip.MustParseAddr("172.22.0.11"), Method: "GET", File: "images/os.raw", Status: 200}
			if i > 0 && i < last {
				a.File = fmt.Sprint(i)
			}
			r.Ended(a)
			if i%100 == 0 {
				after(time.Second)
			}
		}
		if got := after(2 * time.Second); !got.Ready || len(r.unwritten) > maxUnwritten {
			t.Errorf("%+v, %d events are kept", got, len(r.unwritten))
		}
		m.do(func() { m.full = nil })
		if after(2 * time.Second); len(m.happened) != maxUnwritten {
			t.Fatalf("%d events", len(m.happened))
		}
		for _, i := range []int{0, maxUnwritten - 1} {
			if m.happened[i].Kind != "image" {
				t.Errorf("event %d is %+v", i, m.happened[i])
			}
		}
	})
}

// TestRoom_NoReport holds that a report that cannot be written keeps no host from its files.
func TestRoom_NoReport(t *testing.T) {
	m := &machine{here: map[string]bool{spec.IronicImage: true, spec.IronicAgentImage: true, spec.OSImage: true}, orders: on, noReport: errors.New("no space")}
	run(t, m, func(_ *Room, after func(time.Duration) orders.Report) {
		time.Sleep(2 * time.Second)
		m.do(func() {
			if !m.open || len(m.asked) == 0 {
				t.Errorf("open %t, asked for %q", m.open, m.asked)
			}
			m.noReport = nil
		})
		if got := after(2 * time.Second); !got.Ready {
			t.Errorf("%+v", got)
		}
	})
}
