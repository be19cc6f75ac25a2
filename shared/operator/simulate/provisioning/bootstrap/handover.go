package bootstrap

import (
	"context"
	"errors"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/handover"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
)

// own is what the machine knows of the cluster's own provisioning.
func (m *Machine) own() handover.Cluster {
	c := handover.Cluster{Metal3: true, Operator: !m.w.Shared(), Returns: true,
		Address: m.w.Plan.Provisioning.IP, Cards: map[string]string{}, Listed: m.w.Shared()}
	for _, h := range m.w.Hosts {
		c.Cards[h.Plan.MAC.String()] = h.Plan.Name
	}
	for _, h := range m.w.Workers() {
		c.Hosts = append(c.Hosts, h.Name)
	}
	return c
}

// api is the cluster's API, as far as the machine reaches it.
type api struct{ *Machine }

var errNoAPI = errors.New("no API server is reached")

// reached is errNoAPI if the machine reaches no API server.
func (a api) reached() error {
	if !a.w.API(world.BootSite) {
		return errNoAPI
	}
	return nil
}

func (a api) Published(context.Context) (notice.Progress, error) {
	return a.boot.Handed, a.reached()
}

func (a api) Publish(_ context.Context, p notice.Progress) error {
	if err := a.reached(); err != nil {
		return err
	}
	a.boot.Handed = p
	return nil
}

func (a api) Fleet(context.Context) (scale.Fleet, error) {
	if err := a.reached(); err != nil {
		return scale.Fleet{}, err
	}
	return a.w.Fleet(), nil
}

func (a api) Pause(_ context.Context, pause bool) error {
	if err := a.reached(); err != nil {
		return err
	}
	a.w.Pod.Paused = pause
	return nil
}

func (a api) Begin(_ context.Context, hosts []string) error {
	if err := a.reached(); err != nil {
		return err
	}
	for _, name := range hosts {
		a.w.Begin(name)
	}
	return nil
}

// Ask is a person's request to take provisioning back, or to hand it over again. It has no effect
// on a machine that is off, or that hands nothing over.
func (m *Machine) Ask(back bool) {
	of := m.boot.Memory.HandoverSince
	if !m.Runs() || !m.boot.Program || of.IsZero() {
		return
	}
	m.asks = orders.Reversal{Back: back, Of: of, At: m.w.Clock(), Why: "simulated"}
	m.Poll()
}

// Asked reports whether a person's request may still be followed.
func (m *Machine) Asked() bool { return m.asks.Asks(m.boot.Memory.HandoverSince, m.w.Clock()) }

func (a api) Holders() (cards []string, err error) {
	for _, s := range a.w.WhoHas(world.BootSite, a.w.Plan.Provisioning.IP) {
		cards = append(cards, a.w.Card(s).String())
	}
	return cards, nil
}
