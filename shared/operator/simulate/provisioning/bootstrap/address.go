package bootstrap

import (
	"context"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/bootstrap/provisioning/address"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// roundOfAddress is a round of the room that holds the machine's address. It is repeated after
// an error, after a step such as a question, and until the room has done what the orders ask.
func (m *Machine) roundOfAddress() {
	ctx := context.Background()
	s, err := m.address.Observe(ctx)
	if err != nil {
		panic("simulate: what is simulated can be read: " + err.Error())
	}
	d, _ := m.address.Decide(s)
	// Publish keeps its error for Apply, which repeats what has failed in a later round.
	_ = m.address.Publish(ctx, d)
	if err := m.address.Apply(ctx, d); err != nil || d.Step != "" || !d.Report.Ready {
		m.w.After(vrrp.Beat, m.part(orders.Address))
	}
}

// files are the files of the machine, as the room of the address reads and writes them.
type files struct{ *Machine }

func (f files) Orders() (orders.Orders, error) { return f.orders, nil }

func (f files) Report(r orders.Report) error {
	f.report(r)
	return nil
}

func (f files) Claim() (address.Claim, error) { return f.claim, nil }

func (f files) Keep(c address.Claim) error {
	f.claim = c
	return nil
}

func (f files) Forget() error {
	f.claim = address.Claim{}
	return nil
}

// network is the machine's card on the network that hosts boot from.
type network struct{ *Machine }

func (n network) addresses() (all []netip.Prefix) {
	if n.prefix().Addr().Is6() {
		all = append(all, netip.PrefixFrom(netip.MustParseAddr("fe80::2"), 64))
	}
	if n.boot.Held {
		all = append(all, n.prefix())
	}
	return all
}

func (n network) Ethernets() ([]addr.Ethernet, error) {
	return []addr.Ethernet{{Name: "boot", MAC: n.w.Card(world.BootSite), Enabled: true,
		Carrier: true, Addresses: n.addresses()}}, nil
}

func (n network) Links() (addr.Snapshot, error) {
	l := addr.Link{Index: 1, Name: "boot", Up: true}
	for _, p := range n.addresses() {
		l.Addresses = append(l.Addresses, addr.Address{Prefix: p})
	}
	return addr.Snapshot{Links: []addr.Link{l}}, nil
}

func (n network) WhoHas(_ string, a netip.Addr) (macs []string, err error) {
	for _, s := range n.w.WhoHas(world.BootSite, a) {
		macs = append(macs, n.w.Card(s).String())
	}
	return macs, nil
}

func (network) Announce(string, netip.Addr) error { return nil }
func (network) SetUp(string) error                { return nil }
func (network) MakeLinkLocal(string) error        { return nil }
func (network) DeleteLoopRoute(netip.Addr) error  { return nil }

func (n network) Add(string, netip.Prefix) (added bool, err error) {
	added = !n.boot.Held
	n.setAddress(true)
	return added, nil
}

func (n network) Delete(int, netip.Prefix) error {
	n.setAddress(false)
	return nil
}
