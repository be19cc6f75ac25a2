package bootstrap

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/machine"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/cause"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Poll schedules the phase machine's next round at its usual pace. In the simulation, rounds in
// which nothing but the time can have changed are further apart.
func (m *Machine) Poll() { m.schedule(vrrp.Beat) }

func (m *Machine) schedule(d time.Duration) {
	if m.room == nil || m.next > m.w.Now && m.next <= m.w.Now+d {
		return
	}
	m.gen++
	m.next = m.w.Now + d
	m.w.At(m.next, world.Event{Kind: world.EvPhases, Gen: m.gen})
}

// Round is a round of the phase machine.
func (m *Machine) Round(gen uint32) {
	if m.room == nil || gen != m.gen {
		return
	}
	m.busy = false
	switch m.round(); {
	case m.busy:
		m.schedule(vrrp.Beat)
	case m.boot.Phase != progress.Ended: // nothing is ever on again
		m.schedule(world.Quiet)
	}
}

func (m *Machine) round() {
	ctx := context.Background()
	s, err := m.room.Observe(ctx)
	if err = errors.Join(err, s.Unread); err != nil {
		panic("simulate: what is simulated can be read: " + err.Error())
	}
	d, _ := m.room.Decide(s)
	_ = m.room.Publish(ctx, d)
	// A request that fails is repeated in a later round, as the product's loop does.
	failed := m.room.Apply(ctx, d) != nil
	m.busy = failed || len(d.Entries) > 0 || len(d.Requests) > 0 || len(d.Guards) > 0 ||
		d.Examine || d.Handover.Pause || d.Handover.Unpause || len(d.Handover.Begin) > 0
	for _, h := range m.w.Hosts[:m.w.Nodes] {
		ironic.Boot(m.w, h)
		ironic.Settle(m.w, h)
	}
	m.room.CheckDue(ctx)
	if was := m.boot.Phase; was != m.boot.Memory.Phase {
		m.boot.Phase = m.boot.Memory.Phase
		m.boot.Left = m.boot.Left || m.boot.Phase.Past(progress.Unpause)
		m.w.Note(schedule.Bootstrap, "phase "+string(m.boot.Phase))
		m.w.Mark(schedule.PhaseMark(m.boot.Phase))
	}
}

// joined are the nodes that the machine's API lists.
func (m *Machine) joined() (all []addr.Candidate, listed bool) {
	for _, h := range m.w.Hosts[:m.w.Nodes] {
		if h.HasJoined() {
			all = append(all, addr.Candidate{Name: h.Plan.Name,
				InternalIPs: []netip.Addr{netip.IPv4Unspecified()}})
		}
	}
	return all, true
}

// host is the machine as its phase machine reads and writes it.
type host struct{ *Machine }

func (m host) Orders() (orders.Orders, error) { return m.orders, nil }

func (m host) WriteOrders(o orders.Orders) error {
	m.orders = o
	m.parts()
	return nil
}

// Report is a part's last one. Its time is the present one: a part that runs renews its report.
func (m host) Report(p orders.Part) (orders.Report, error) {
	r := m.reports[p]
	if r.Part != "" && (p != orders.DHCP || m.dhcp != nil) {
		r.At = m.w.Clock()
	}
	return r, nil
}

func (m host) Secrets() (f hostfile.File, revision string, err error) {
	for _, h := range m.w.Hosts[:m.w.Nodes] {
		f.Hosts = append(f.Hosts, hostfile.Host{Name: h.Plan.Name, Username: account,
			Password: account, Ignition: ignition})
	}
	return f, "1", nil
}

// What the file of the hosts' accounts has in a simulation.
var account, ignition = secret.New("simulated"), secret.New(`{"ignition":{"version":"3.4.0"}}`)

func (host) Image() (node.Image, error) {
	return node.Image{URL: "http://image", SHA256: "ab", Format: "raw"}, nil
}

func (m host) Traces() (map[string]machine.Trace, error) {
	all := make(map[string]machine.Trace, m.w.Nodes)
	for _, h := range m.w.Hosts[:m.w.Nodes] {
		t := machine.Trace{Since: m.booted,
			Cause: cause.Cause{Point: cause.Point{Stage: cause.Nothing, Seen: "a simulated host"}}}
		if at := m.w.Clock().Add(h.Disk.At - m.w.Now); h.Disk.At > 0 && at.After(m.booted) {
			t.Fetched = at
		}
		all[h.Plan.Name] = t
	}
	return all, nil
}

func (host) Note(...events.Event) error { return nil }

func (host) Rewrite(string) (orders.Rewrite, error) { return orders.Rewrite{}, nil }

func (host) Acceptances() ([]orders.Acceptance, error) { return nil, nil }

func (host) Foreign() (foreign.List, error) { return foreign.List{}, nil }

func (m host) Reversal() (orders.Reversal, error) { return m.asks, nil }

func (m host) Show(p progress.Progress) error {
	m.boot.Shown = p
	return nil
}

type journal struct{ *Machine }

func (j journal) Read() ([]ledger.Entry, error) { return j.boot.Ledger, nil }

func (j journal) Append(all ...ledger.Entry) error {
	j.boot.Ledger = append(j.boot.Ledger, all...)
	for _, e := range all {
		j.boot.Memory = j.boot.Memory.With(e)
	}
	return nil
}

// preflight finds what is wrong at that instant.
type preflight struct{ *Machine }

func (p preflight) Run(context.Context, []string) (blocking, _ []string) {
	if p.w.Foreign > 0 {
		blocking = append(blocking, "another DHCP server answers")
	}
	for _, h := range p.w.Hosts[:p.w.Nodes] {
		if h.BMC.Refuses > 0 {
			blocking = append(blocking, "the BMC of "+h.Plan.Name+" refuses")
		}
	}
	return blocking, nil
}

// asked is Ironic's API, as the phase machine asks it.
type asked struct{ *Machine }

func (a asked) Drivers(context.Context) ([]string, error) {
	if !a.boot.Ironic {
		return nil, ironic.ErrDown
	}
	return []string{"idrac", "ipmi", "redfish"}, nil
}

func (a asked) Nodes(context.Context) (all []node.Node, err error) {
	if !a.boot.Ironic {
		return nil, ironic.ErrDown
	}
	for _, h := range a.w.Hosts[:a.w.Nodes] {
		if h.Ironic.Known {
			all = append(all, ironic.View(a.w, h))
		}
	}
	return all, nil
}

func (a asked) Disks(_ context.Context, uuid string) (node.Disks, error) {
	if !a.boot.Ironic {
		return nil, ironic.ErrDown
	}
	return node.Disks{rootdisk.Disk{Device: "/dev/sda", Serial: "S-" + uuid,
		Bytes: world.Large}}, nil
}

// Do does a request. Requests for several hosts may be concurrent: each changes only its host.
func (a asked) Do(_ context.Context, r node.Request) error {
	for _, h := range a.w.Hosts[:a.w.Nodes] {
		if h.Plan.Name == r.UUID || r.Verb == node.Create && h.Plan.Name == r.Spec.Name {
			return ironic.Do(a.w, h, r)
		}
	}
	return ironic.ErrDown
}

type quiet struct{}

func (quiet) Ready() error        { return nil }
func (quiet) Status(string) error { return nil }
