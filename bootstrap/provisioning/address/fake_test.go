package address

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// fakeHost is a machine with links in memory, of which programs beside the room take addresses.
type fakeHost struct {
	cards  []addr.Ethernet
	index  map[string]int // of links, by their names
	routes []addr.Route
	others []string // MACs of other hosts that answer for the address
	orders orders.Orders
	claim  Claim
	report orders.Report
	fails  map[string]error // by the name of the method

	did       []string
	tentative bool // link-local addresses are checked by the kernel
	without6  bool // IPv6 is off on the card
	duplicate bool // the kernel has found another host with an address
	now       time.Time
}

var errFake = errors.New("no such luck")

func (h *fakeHost) card(name string) *addr.Ethernet {
	for i := range h.cards {
		if h.cards[i].Name == name {
			return &h.cards[i]
		}
	}
	return &addr.Ethernet{}
}

func (h *fakeHost) Orders() (orders.Orders, error) { return h.orders, h.fails["Orders"] }

func (h *fakeHost) Report(r orders.Report) error {
	if err := h.fails["Report"]; err != nil {
		return err
	}
	h.report = r
	return nil
}

func (h *fakeHost) Claim() (Claim, error) { return h.claim, h.fails["Claim"] }

func (h *fakeHost) Keep(c Claim) error {
	if err := h.fails["Keep"]; err != nil {
		return err
	}
	h.claim = c
	return nil
}

func (h *fakeHost) Forget() error {
	h.claim = Claim{}
	return nil
}

func (h *fakeHost) Ethernets() ([]addr.Ethernet, error) {
	return slices.Clone(h.cards), h.fails["Ethernets"]
}

func (h *fakeHost) Links() (addr.Snapshot, error) {
	s := addr.Snapshot{Routes: h.routes, Links: []addr.Link{{Index: 1, Name: "lo", Up: true}}}
	for _, c := range h.cards {
		l := addr.Link{Index: h.index[c.Name], Name: c.Name, Up: c.Enabled && c.Carrier}
		for _, p := range c.Addresses {
			l.Addresses = append(l.Addresses, addr.Address{Prefix: p,
				Tentative: h.duplicate || h.tentative && p.Addr().IsLinkLocalUnicast(), Duplicate: h.duplicate})
		}
		s.Links = append(s.Links, l)
	}
	return s, h.fails["Links"]
}

func (h *fakeHost) does(format string, args ...any) {
	h.did = append(h.did, fmt.Sprintf(format, args...))
}

func (h *fakeHost) WhoHas(on string, a netip.Addr) ([]string, error) {
	h.does("ask %s", on)
	if !h.card(on).Carrier {
		return nil, errors.New("network is down")
	}
	return h.others, h.fails["WhoHas"]
}

func (h *fakeHost) Announce(on string, a netip.Addr) error {
	h.does("announce %s", on)
	return h.fails["Announce"]
}

func (h *fakeHost) SetUp(on string) error {
	h.does("enable %s", on)
	h.card(on).Enabled = h.fails["SetUp"] == nil
	return h.fails["SetUp"]
}

func (h *fakeHost) MakeLinkLocal(on string) error {
	h.does("link-local %s", on)
	if h.without6 {
		return nil
	}
	c := h.card(on)
	c.Addresses = append(c.Addresses, netip.MustParsePrefix("fe80::1/64"))
	return nil
}

func (h *fakeHost) Add(on string, p netip.Prefix) (bool, error) {
	h.does("add %s %s", on, p)
	if err := h.fails["Add"]; err != nil {
		return false, err
	}
	c := h.card(on)
	if slices.Contains(c.Addresses, p) {
		return false, nil
	}
	c.Addresses = append(c.Addresses, p)
	return true, nil
}

func (h *fakeHost) Delete(index int, p netip.Prefix) error {
	h.does("delete %d %s", index, p)
	for i := range h.cards {
		if h.index[h.cards[i].Name] == index {
			h.cards[i].Addresses = slices.DeleteFunc(h.cards[i].Addresses,
				func(have netip.Prefix) bool { return have == p })
		}
	}
	return h.fails["Delete"]
}

func (h *fakeHost) DeleteLoopRoute(a netip.Addr) error {
	h.does("delete route %s", a)
	h.routes = nil
	return nil
}

// takeAway is another program that removes all addresses of a card but the link-local ones.
func (h *fakeHost) takeAway(name string) {
	c := h.card(name)
	c.Addresses = slices.DeleteFunc(c.Addresses,
		func(p netip.Prefix) bool { return !p.Addr().IsLinkLocalUnicast() })
}

const cardMAC, otherMAC = "52:54:00:00:00:10", "52:54:00:aa:bb:cc"

var (
	four = netip.MustParsePrefix("172.22.0.2/24")
	six  = netip.MustParsePrefix("fd00:1101::2/64")
	on   = orders.Orders{Generation: 4, On: []orders.Part{orders.Address}, Why: "deploy"}
	off  = orders.Orders{Generation: 5, Why: "all are deployed"}
)

// theCard is that of the provisioning network.
func theCard() mac.MAC { return mac.MAC{0x52, 0x54, 0, 0, 0, 0x10} }

// planOf is one of a cluster with two provisioning addresses, and this one for its bootstrap
// machine.
func planOf(own netip.Prefix) plan.Plan {
	return plan.Plan{Provisioning: &provision.Plan{Network: provisioning.Managed, CIDR: own.Masked(),
		Address: provisioning.Two, BootstrapIP: own.Addr(), MACs: []mac.MAC{theCard()}}}
}

// machine is a fake host with the card of the provisioning network, down and without an address,
// beside that of the machine network.
func machine() *fakeHost {
	return &fakeHost{now: time.Unix(1_700_000_000, 0), orders: on, fails: map[string]error{},
		index: map[string]int{"ens3": 2, "ens4": 3, "br0": 4}, cards: []addr.Ethernet{
			{Name: "ens3", MAC: mac.MAC{0x52, 0x54, 0, 0, 0, 3}, Enabled: true, Carrier: true,
				Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.10/24")}},
			{Name: "ens4", MAC: theCard(), Carrier: true},
		}}
}

// driver runs a room's rounds on a fake host.
type driver struct {
	*testing.T
	*fakeHost
	room *Room
	p    plan.Plan
	log  bytes.Buffer
	unit fakeUnit
}

type fakeUnit struct{ ready int }

func (u *fakeUnit) Ready() error        { u.ready++; return nil }
func (u *fakeUnit) Status(string) error { return nil }

func drive(t *testing.T, p plan.Plan) *driver {
	d := &driver{T: t, fakeHost: machine(), p: p}
	d.restart()
	return d
}

// restart is another process of the program on the same machine.
func (d *driver) restart() {
	d.room = New(Options{Plan: d.p, Host: d.fakeHost, Files: d.fakeHost, Notifier: &d.unit,
		Now: func() time.Time { return d.now }, Log: slog.New(slog.NewTextHandler(&d.log, nil))})
}

// round is one round of the loop, a second later, and what the room changed in it.
func (d *driver) round() (did []string) {
	d.now, d.did = d.now.Add(time.Second), nil
	var want Desired
	s, failed := d.room.Observe(d.Context())
	if failed == nil {
		var why loop.Reasons
		if want, why = d.room.Decide(s); len(why) != 1 || why[0] == "" {
			d.Errorf("reasons %q", why)
		}
	}
	if err := d.room.Publish(d.Context(), want); err != nil {
		d.Errorf("publish: %v", err)
	}
	if failed == nil {
		_ = d.room.Apply(d.Context(), want) // what fails is in the next report
	}
	return d.did
}

// expect runs a round and compares what the room did and reported.
func (d *driver) expect(did string, isOn, ready bool, why string) {
	d.Helper()
	got := strings.Join(d.round(), ", ")
	if got != did {
		d.Errorf("it did %q, want %q", got, did)
	}
	if r := d.report; r.On != isOn || r.Ready != ready || !strings.Contains(r.Why, why) {
		d.Errorf("it reports on %t, ready %t, %q; want %t, %t, %q", r.On, r.Ready, r.Why, isOn,
			ready, why)
	}
}
