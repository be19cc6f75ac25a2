// Package server is the program that runs a host's DHCP server, in virtual time: the product's
// own room with a host, a packet filter and a dnsmasq that are simulated.
package server

import (
	"context"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/bootserver"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/served"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Options are what a Program needs.
type Options struct {
	World  *world.World
	Server *world.Server
	Orders func() orders.Orders
	Report func(orders.Report) // may be nil
}

// Program is the program, from one start to its end.
type Program struct {
	Options
	room *bootserver.Room
}

// Start starts the program. Its first round comes later.
func Start(o Options) *Program {
	p := &Program{Options: o}
	p.room = bootserver.New(bootserver.Options{Plan: o.World.Plan, Phase: o.Server.Phase,
		Host:  hostOf{p},
		Fence: fence{p}, Daemon: daemon{p}, Notifier: quiet{}, Now: o.World.Clock})
	o.Server.Program = true
	return p
}

// Round is one round of it.
func (p *Program) Round() error {
	ctx := context.Background()
	s, err := p.room.Observe(ctx)
	if err != nil {
		return err
	}
	p.Server.Local = s.Orders.Local
	return p.room.Apply(ctx, p.decide(s))
}

// seen is all that a decision depends on here, beside the generation.
type seen struct {
	phase string
	wants bool
	has   bool
	hosts int
}

// decide decides once for all runs of a cluster: the configuration that it renders is the same.
func (p *Program) decide(s bootserver.Snapshot) bootserver.Desired {
	key := seen{string(p.Server.Phase), s.Orders.Wants(orders.DHCP), len(s.Links.Links) > 0 &&
		len(s.Links.Links[0].Addresses) > 0, len(s.Orders.Hosts)}
	if known, ok := p.World.Decided.Load(key); ok {
		d := known.(bootserver.Desired)
		d.Generation = s.Orders.Generation
		return d
	}
	d, _ := p.room.Decide(s)
	p.World.Decided.Store(key, d)
	return d
}

// Leave ends the program in order.
func (p *Program) Leave() error {
	err := p.room.Leave(context.Background())
	p.Server.Program = false
	return err
}

// Kill ends the program of a server at once. The fence closes by itself.
func Kill(w *world.World, s *world.Server) {
	if s.Renews {
		s.Until = w.Now + bootserver.Open - time.Duration(w.Random.Int64N(int64(vrrp.Beat)))
		w.At(s.Until, world.Event{Kind: world.EvJudge})
	}
	s.Renews, s.Program = false, false
}

// Links are those of a host with the server's address or without.
func Links(w *world.World, s *world.Server) addr.Snapshot {
	l := addr.Link{Index: 1, Name: "boot", Up: true}
	if s.Addressed {
		a := served.Server(w.Plan.Provisioning, s.Phase)
		bits := w.Plan.Provisioning.CIDR.Bits()
		l.Addresses = []addr.Address{{Prefix: netip.PrefixFrom(a, bits)}}
	}
	return addr.Snapshot{Links: []addr.Link{l}}
}

// The methods of bootserver.Host; Options.Orders and Options.Report are functions of the owner.

type hostOf struct{ *Program }

func (p hostOf) Orders() (orders.Orders, error) { return p.Options.Orders(), nil }

func (p hostOf) Report(r orders.Report) error {
	if p.Options.Report != nil {
		p.Options.Report(r)
	}
	return nil
}
func (p hostOf) Links() (addr.Snapshot, error) {
	return Links(p.World, p.Server), nil
}
func (hostOf) Exists(string) bool                                      { return true }
func (hostOf) Write(asset.File) (bool, error)                          { return true, nil }
func (hostOf) Answers(context.Context, netip.Addr, string) (err error) { return nil }
func (hostOf) Watch(string)                                            {}

type fence struct{ p *Program }

func (f fence) Keep(_ string, from bootserver.Clients) error {
	f.p.Server.Kept = from.Hosts
	if from.Except {
		f.p.Server.Kept = nil
		for _, h := range f.p.World.Plan.Provisioning.Hosts {
			if !slices.Contains(from.Hosts, h.MAC) {
				f.p.Server.Kept = append(f.p.Server.Kept, h.MAC)
			}
		}
	}
	return nil
}

func (f fence) Allow(d time.Duration) error {
	s := f.p.Server
	s.Until, s.Renews, s.Last = f.p.World.Now+d, true, f.p.World.Now
	return nil
}

func (f fence) Close() error {
	s := f.p.Server
	if f.p.World.Defect == schedule.Unfenced {
		return nil
	}
	s.Until, s.Renews = 0, false
	return nil
}

func (f fence) Remove() error {
	if f.p.World.Defect != schedule.Unfenced {
		f.p.Server.Kept = nil
	}
	return nil
}

type daemon struct{ p *Program }

func (d daemon) Ensure(context.Context, container.Spec) error {
	d.p.Server.Running = true
	return nil
}
func (daemon) Signal(syscall.Signal) error { return nil }
func (d daemon) Running() bool             { return d.p.Server.Running }
func (d daemon) Stop(context.Context, string) error {
	if d.p.World.Defect != schedule.Unfenced {
		d.p.Server.Running = false
	}
	return nil
}

type quiet struct{}

func (quiet) Ready() error        { return nil }
func (quiet) Status(string) error { return nil }
