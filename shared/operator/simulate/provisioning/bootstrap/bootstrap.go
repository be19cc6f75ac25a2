// Package bootstrap is the bootstrap machine in virtual time: the product's own phase machine, the
// rooms of its address and of its DHCP server, and the other parts that follow the orders.
package bootstrap

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision"
	"github.com/onprem-infra/onprem-infra/bootstrap/provisioning/address"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/server"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	planned "github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Machine is the machine's programs.
type Machine struct {
	w       *world.World
	boot    *world.Machine
	room    *provision.Room
	address *address.Room
	dhcp    *server.Program

	orders  orders.Orders
	reports map[orders.Part]orders.Report
	claim   address.Claim
	asks    orders.Reversal // what a person asks of the handover
	booted  time.Time
	next    time.Duration // of the phase machine's rounds
	gen     uint32
	busy    bool // the last round did something
}

// New is a machine that is off.
func New(w *world.World) *Machine {
	m := &Machine{w: w, boot: w.Boot}
	m.boot.Server.Phase = planned.Bootstrap
	m.boot.Phase, m.boot.Memory = progress.Address, ledger.Fold(nil)
	return m
}

// On is the power's return. The machine's programs start later, and find nothing of what was in
// memory.
func (m *Machine) On() {
	m.boot.On = true
	m.boot.Boots++
	m.w.Note(schedule.Bootstrap, "on")
	m.w.Soon(world.Boots, m.event(world.EvPower))
}

// Off is a power cut.
func (m *Machine) Off() {
	b := m.boot
	m.w.Note(schedule.Bootstrap, "off")
	b.On, b.Program, b.Held, b.HTTP, b.Ironic = false, false, false, false, false
	b.Boots++
	b.Lost = m.w.Now
	*b.Server = world.Server{Name: b.Server.Name, Site: b.Server.Site, Phase: b.Server.Phase}
	if m.w.Defect == schedule.Forgetful {
		b.Ledger, b.Memory = nil, ledger.Fold(nil)
		ironic.Forget(m.w, planned.Bootstrap)
	}
	m.room, m.address, m.dhcp, m.claim = nil, nil, nil, address.Claim{}
	m.asks = orders.Reversal{}
}

// event is an event of the machine's present boot.
func (m *Machine) event(kind world.EventKind) world.Event {
	return world.Event{Kind: kind, Gen: m.boot.Boots, Host: int16(world.BootSite)}
}

// Start starts all programs after a boot.
func (m *Machine) Start() {
	m.orders, m.reports = orders.Orders{}, map[orders.Part]orders.Report{}
	m.booted = m.w.Clock()
	plan := m.w.Plan
	own := *plan.Provisioning
	own.MACs, own.Interface = []mac.MAC{m.w.Card(world.BootSite)}, ""
	plan.Provisioning = &own
	m.address = address.New(address.Options{Plan: plan, Host: network{m}, Files: files{m},
		Notifier: quiet{}, Now: m.w.Clock, Log: slog.New(slog.DiscardHandler)})
	m.StartDHCP()
	if m.w.Defect != schedule.Stuck || m.boot.Boots == 1 {
		m.StartPhases()
	}
	m.parts()
}

// Runs reports whether the machine's programs were started since its boot.
func (m *Machine) Runs() bool { return m.address != nil }

// StartDHCP starts the program of the DHCP server.
func (m *Machine) StartDHCP() {
	m.dhcp = server.Start(server.Options{World: m.w, Server: m.boot.Server,
		Orders: func() orders.Orders { return m.orders },
		Report: func(r orders.Report) { m.report(r) }})
	m.w.Soon(world.Woken, m.part(orders.DHCP))
}

// KillDHCP kills that program. dnsmasq goes on, behind a fence that closes.
func (m *Machine) KillDHCP() {
	server.Kill(m.w, m.boot.Server)
	m.dhcp = nil
}

// StartPhases starts the phase machine.
func (m *Machine) StartPhases() {
	m.room = provision.New(provision.Options{
		Settings: provision.Settings{Plan: m.w.Plan.Provisioning, Kernel: "http://kernel",
			Ramdisk: "http://ramdisk", Name: schedule.Bootstrap, Own: m.own()},
		Host: host{m}, Ironic: asked{m}, Journal: journal{m}, Preflight: preflight{m},
		Cluster: api{m},
		Joined:  m.joined, Now: m.w.Clock, Wake: make(chan struct{}, 1), Notifier: quiet{}})
	m.boot.Program = true
	m.Poll()
}

// KillPhases kills the phase machine.
func (m *Machine) KillPhases() { m.room, m.boot.Program = nil, false }

// report keeps a part's report. One that differs wakes the phase machine.
func (m *Machine) report(r orders.Report) {
	old := m.reports[r.Part]
	m.reports[r.Part] = r
	if old.Generation != r.Generation || old.On != r.On || old.Ready != r.Ready {
		m.Poll()
	}
}

var partsInOrder = orders.Parts()

// part is an event of a part.
func (m *Machine) part(p orders.Part) world.Event {
	e := m.event(world.EvPart)
	for i, other := range partsInOrder {
		if other == p {
			e.Arg = int32(i)
		}
	}
	return e
}

// parts has the parts follow the orders that are there now.
func (m *Machine) parts() {
	for _, p := range partsInOrder {
		span := world.Woken
		switch on := m.orders.Wants(p); {
		case p == orders.Address || p == orders.DHCP:
		case on == m.serves(p):
		case on && p == orders.HTTP:
			span = world.ServerOn
		case on:
			span = world.Starts
		default:
			span = world.Stops
		}
		m.w.Soon(span, m.part(p))
	}
}

func (m *Machine) serves(p orders.Part) bool {
	if p == orders.HTTP {
		return m.boot.HTTP
	}
	return m.boot.Ironic
}

// Part is a round of the part with index i in partsInOrder.
func (m *Machine) Part(i int32) {
	switch p := partsInOrder[i]; p {
	case orders.Address:
		m.roundOfAddress()
	case orders.DHCP:
		if m.dhcp != nil && m.dhcp.Round() != nil {
			m.w.After(world.Quiet, m.part(p))
		}
	default:
		on := m.orders.Wants(p)
		if on && m.boot.Left && m.w.Defect == schedule.Spent {
			return
		}
		if p == orders.HTTP {
			m.boot.HTTP = on
		} else if on != m.boot.Ironic {
			m.boot.Ironic = on
			if on {
				ironic.Start(m.w, planned.Bootstrap)
			}
		}
		m.report(orders.Report{Part: p, Generation: m.orders.Generation, On: on, Ready: true,
			At: m.w.Clock(), Why: "simulated"})
	}
}

// KillIronic kills Ironic; its container engine restarts it, without its database if forgets.
func (m *Machine) KillIronic(forgets bool) {
	if m.boot.Ironic {
		m.boot.Ironic = false
		if forgets {
			ironic.Forget(m.w, planned.Bootstrap)
		}
		r := m.reports[orders.Ironic]
		r.Ready, r.Why = false, "it starts again"
		m.report(r)
		m.w.Soon(world.Starts, m.part(orders.Ironic))
	}
}

// setAddress is a change of the machine's address.
func (m *Machine) setAddress(has bool) {
	m.boot.Held, m.boot.Server.Addressed = has, has
	m.w.Soon(world.Woken, m.part(orders.DHCP))
}

// prefix is the machine's address with its length.
func (m *Machine) prefix() netip.Prefix {
	p := m.w.Plan.Provisioning
	return netip.PrefixFrom(p.Own(), p.CIDR.Bits())
}
