package bootserver

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	plans "github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

func card(n byte) mac.MAC { return mac.MAC{0x52, 0x54, 0, 0, 0, n} }

// planned is a plan of two control plane nodes and a worker.
func planned(mode plans.Mode) plan.Plan {
	a := netip.MustParseAddr
	p := &provision.Plan{Network: mode}
	if mode != plans.Disabled {
		p.CIDR, p.Address, p.BootstrapIP, p.IP = netip.MustParsePrefix("172.22.0.0/24"), plans.Two, a("172.22.0.2"), a("172.22.0.3")
	}
	if mode == plans.Managed {
		p.DHCP = &provision.DHCP{First: a("172.22.0.10"), Last: a("172.22.0.254"), LeaseSeconds: 3600}
	}
	for i, phase := range []provision.Phase{provision.Bootstrap, provision.Bootstrap, provision.Cluster} {
		h := provision.Host{Name: fmt.Sprintf("host-%d", i+1), Phase: phase, MAC: card(byte(i + 1)), Boot: provision.PXEUEFI}
		if mode == plans.Managed {
			h.Address = netip.AddrFrom4([4]byte{172, 22, 0, byte(i + 11)})
		}
		p.Hosts = append(p.Hosts, h)
	}
	return plan.Plan{Provisioning: p, Ports: map[string]uint16{port.ProvisioningHTTP: 6180}, Images: map[string]string{"ironicImage": "registry.example.com/ironic:1"}}
}

// fakeHost is a FAKE: a machine with its packet filter and its container, whose state a test sets.
// It fails the test if a step of the room breaks the order that protects hosts.
type fakeHost struct {
	t        *testing.T
	orders   orders.Orders
	broken   error // of the orders
	address  string
	state    addr.Address
	absent   []string // programs
	files    map[string]string
	full     string // a path that cannot be written
	noReport error  // why no report can be written
	reports  []orders.Report
	watched  string

	filter  []mac.MAC // nil without a table
	except  bool
	link    string
	open    time.Time // until when
	kept    int       // changes of the table
	unfence error

	running bool
	digest  string
	starts  int
	fault   error // of the engine
	silent  bool
	signals []syscall.Signal
	asked   int

	now time.Time
}

func (h *fakeHost) Orders() (orders.Orders, error) { return h.orders, h.broken }
func (h *fakeHost) Watch(link string)              { h.watched = link }
func (h *fakeHost) Now() time.Time                 { return h.now }
func (h *fakeHost) Ready() error                   { return nil }
func (h *fakeHost) Status(string) error            { return nil }
func (h *fakeHost) Report(r orders.Report) error {
	if h.noReport == nil {
		h.reports = append(h.reports, r)
	}
	return h.noReport
}
func (h *fakeHost) Exists(path string) bool {
	return !slices.ContainsFunc(h.absent, func(a string) bool { return strings.HasSuffix(path, a) })
}

func (h *fakeHost) Links() (addr.Snapshot, error) {
	l := addr.Link{Name: "eno2", Up: true}
	if h.address != "" {
		a := h.state
		a.Prefix = netip.MustParsePrefix(h.address)
		l.Addresses = append(l.Addresses, a)
	}
	return addr.Snapshot{Links: []addr.Link{{Name: "lo"}, l}}, nil
}

func (h *fakeHost) Write(f asset.File) (bool, error) {
	if f.Path == h.full {
		return false, errors.New("no space left")
	}
	if h.files[f.Path] == string(f.Contents) {
		return false, nil
	}
	h.files[f.Path] = string(f.Contents)
	return true, nil
}

func (h *fakeHost) Answers(_ context.Context, server netip.Addr, file string) error {
	h.asked++
	if server.String() != "172.22.0.2" || file != Asked {
		h.t.Errorf("asked %s for %s", server, file)
	}
	if h.silent || !h.running {
		return errors.New("it does not answer")
	}
	return nil
}

func (h *fakeHost) Keep(link string, from Clients) error {
	hosts := from.Hosts
	h.except = from.Except
	if h.filter == nil || h.link != link {
		h.open = time.Time{}
	}
	if h.filter == nil || h.link != link || !slices.Equal(h.filter, hosts) {
		h.kept++
	}
	h.filter, h.link = append([]mac.MAC{}, hosts...), link
	return nil
}

func (h *fakeHost) Allow(d time.Duration) error {
	if h.filter == nil || !h.running {
		h.t.Errorf("the fence opens with the filter %v and the server running %t", h.filter, h.running)
	}
	h.open = h.now.Add(d)
	return nil
}

func (h *fakeHost) Close() error {
	if h.unfence == nil {
		h.open = time.Time{}
	}
	return h.unfence
}

func (h *fakeHost) Remove() error {
	if h.running {
		h.t.Error("the filter is removed before dnsmasq has gone")
	}
	h.filter = nil
	return nil
}

func (h *fakeHost) Ensure(_ context.Context, c container.Spec) error {
	if h.fault != nil {
		return h.fault
	}
	if !h.running || h.digest != c.Digest() {
		h.starts++
	}
	h.running, h.digest = true, c.Digest()
	return nil
}

func (h *fakeHost) Stop(context.Context, string) error {
	if h.open.After(h.now) && h.unfence == nil {
		h.t.Error("dnsmasq ends behind an open fence")
	}
	if h.fault != nil {
		return h.fault
	}
	h.running = false
	return nil
}

func (h *fakeHost) Running() bool { return h.running }

func (h *fakeHost) Signal(s syscall.Signal) error {
	if !h.running {
		return os.ErrProcessDone
	}
	h.signals = append(h.signals, s)
	return nil
}

// answers are the hosts that get an answer now.
func (h *fakeHost) answers() (all []mac.MAC) {
	if !h.running || !h.open.After(h.now) {
		return nil
	}
	for _, m := range h.filter {
		if strings.Contains(h.files["/run/onprem-infra/provisioning/dnsmasq/hosts"], m.String()) {
			all = append(all, m)
		}
	}
	return all
}

// report is the last one.
func (h *fakeHost) report() orders.Report {
	if len(h.reports) == 0 {
		return orders.Report{}
	}
	return h.reports[len(h.reports)-1]
}

// on orders the server on for hosts.
func (h *fakeHost) on(hosts ...mac.MAC) {
	h.orders = orders.Orders{Generation: h.orders.Generation + 1, On: orders.Parts(), Hosts: hosts, Why: "deploy"}
}

func (h *fakeHost) off() {
	h.orders = orders.Orders{Generation: h.orders.Generation + 1, Why: "all hosts are installed"}
}

func newRoom(t *testing.T, mode plans.Mode) (*Room, *fakeHost) {
	t.Helper()
	h := &fakeHost{t: t, address: "172.22.0.2/24", files: map[string]string{}, now: time.Unix(1_700_000_000, 0)}
	return New(Options{Plan: planned(mode), Phase: provision.Bootstrap, Host: h, Fence: h, Daemon: h, Notifier: h, Now: h.Now}), h
}

// round is one of the loop's, a second after the last.
func round(t *testing.T, r *Room, h *fakeHost) (err error) {
	t.Helper()
	h.now = h.now.Add(time.Second)
	s, err := r.Observe(t.Context())
	var d Desired
	if err == nil {
		d, _ = r.Decide(s)
	}
	if failed := r.Publish(t.Context(), d); failed != nil || err != nil {
		return errors.Join(err, failed)
	}
	return r.Apply(t.Context(), d)
}
