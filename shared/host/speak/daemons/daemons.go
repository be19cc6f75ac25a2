// Package daemons keeps FRR's daemons running, each on the configuration that it is to have.
package daemons

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/child"
	host "github.com/onprem-infra/onprem-infra/shared/host/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/launch"
)

// Options are what daemons need.
type Options struct {
	Launcher *launch.Launcher
	RealTime bool            // for bfdd, where the kernel permits it
	Wake     chan<- struct{} // asks for a round when one ends
	Log      *slog.Logger
}

// Daemons are FRR's, and what each of them has been given. They are for one goroutine.
type Daemons struct {
	Options
	all map[frr.Daemon]*daemon
}

// New makes daemons of which none has been started.
func New(o Options) *Daemons {
	d := &Daemons{Options: o, all: map[frr.Daemon]*daemon{}}
	for _, name := range frr.Daemons() {
		d.all[name] = &daemon{name: name,
			keeper: child.New(child.Options{Wake: o.Wake, Log: o.Log, As: o.Launcher.As()}),
			spec: container.Spec{Name: string(name),
				Command: o.Launcher.Command(name, o.Launcher.Sockets)}}
	}
	return d
}

// PID is a daemon's process, 0 if none runs.
func (d *Daemons) PID(name frr.Daemon) int { return d.all[name].keeper.PID() }

// Starts is how often a daemon has been started.
func (d *Daemons) Starts(name frr.Daemon) int { return d.all[name].starts }

// Configured reports whether a daemon runs and has taken its configuration.
func (d *Daemons) Configured(name frr.Daemon) bool {
	one := d.all[name]
	return one.keeper.Running() && one.has.Router.IsValid()
}

// Unknown reports whether a daemon runs, and it is not known which configuration it has: routers
// may then still have what they had before.
func (d *Daemons) Unknown(name frr.Daemon) bool {
	one := d.all[name]
	return one.keeper.Running() && one.given && !one.has.Router.IsValid()
}

// Ensure begins a round. It keeps the daemons running that a configuration needs, and configures
// them, except for what is announced. starting reports that a daemon has just been started and
// does not listen yet, which is no error.
func (d *Daemons) Ensure(ctx context.Context, c frr.Config) (starting bool, err error) {
	if !c.Router.IsValid() {
		return false, errors.New("there is no configuration yet")
	}
	var wrong []error
	ready := true // the daemons before this one
	for _, name := range frr.Daemons() {
		one := d.all[name]
		one.silent = false
		if name == frr.BFD && c.Timing.BFD == (bgp.BFD{}) {
			continue
		}
		running := one.keeper.Running()
		if !running && !ready {
			continue // the next round starts it
		}
		if err := one.keeper.Ensure(ctx, one.spec); err != nil {
			ready, wrong = false, append(wrong, err)
			continue
		}
		if !running {
			one.starts++
			one.begun = time.Now()
			one.forget()
			if name == frr.BFD && d.RealTime {
				wrong = append(wrong, realTime(one.keeper.PID()))
			}
		}
		wanted := c
		wanted.Announced = one.has.Announced
		err := one.change(ctx, d.Launcher.Sockets, wanted)
		if err == nil {
			err = one.repair(ctx, d.Launcher.Sockets)
		}
		ready = ready && (err == nil || one.has.Router.IsValid()) // or it lacks lines alone
		if one.starting(err) {
			starting = true
			continue
		}
		wrong = append(wrong, err)
	}
	if c.Timing.BFD == (bgp.BFD{}) && ready { // no session needs it any more
		wrong = append(wrong, d.all[frr.BFD].stop(ctx))
	}
	return starting, errors.Join(wrong...)
}

func realTime(pid int) error {
	p, err := proc.Open(pid)
	if err != nil {
		return err
	}
	return errors.Join(p.RealTime(), p.Close())
}

// Announce has the VIPs announced, and no others. A daemon that has just been started and does
// not listen yet announces nothing, which is no error. For one that has not answered in this
// round, the error has been reported already.
func (d *Daemons) Announce(ctx context.Context, c frr.Config,
	vips map[netip.Addr]bgp.Grade) error {
	one := d.all[frr.BGP]
	if !c.Router.IsValid() || !one.keeper.Running() || one.silent {
		return nil // nothing is announced, or all as before
	}
	c.Announced = maps.Clone(vips)
	if err := one.change(ctx, d.Launcher.Sockets, c); !one.starting(err) {
		return err
	}
	return nil
}

// Kill kills a daemon, which is started again.
func (d *Daemons) Kill(name frr.Daemon) { _ = d.all[name].keeper.Signal(syscall.SIGKILL) }

// Withdraw ends BGP's daemon, and with it all routes.
func (d *Daemons) Withdraw(ctx context.Context) error { return d.all[frr.BGP].stop(ctx) }

// Stop ends the daemons: bgpd first, which has the sessions.
func (d *Daemons) Stop(ctx context.Context) error {
	var wrong []error
	for _, name := range []frr.Daemon{frr.BGP, frr.BFD, frr.Zebra} {
		wrong = append(wrong, d.all[name].stop(ctx))
	}
	return errors.Join(wrong...)
}

// Ask asks BGP's daemon, and kills it if it does not answer several times in a row: it is started
// again.
func (d *Daemons) Ask(ctx context.Context, question string) (string, error) {
	one := d.all[frr.BGP]
	asked := !one.silent
	answer, err := one.show(ctx, d.Launcher.Sockets, question)
	if err == nil {
		one.fails = 0
		return answer, nil
	}
	if !asked || host.Refused(err) { // a refusal is an answer
		return "", err
	}
	return "", one.missed(err)
}
