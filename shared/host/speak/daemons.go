package speak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/child"
	host "github.com/onprem-infra/onprem-infra/shared/host/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
)

// daemons are FRR's, and what each of them has been given.
type daemons struct {
	Options
	all map[frr.Daemon]*daemon
}

type daemon struct {
	name   frr.Daemon
	spec   container.Spec
	keeper *child.Keeper
	starts int
	conn   *host.Daemon // nil while there is none
	has    frr.Config   // the zero value after each start
	fails  int          // questions in a row without an answer
}

func newDaemons(o Options, wake chan<- struct{}) *daemons {
	d := &daemons{Options: o, all: map[frr.Daemon]*daemon{}}
	for _, name := range frr.Daemons() {
		one := &daemon{name: name,
			keeper: child.New(child.Options{Wake: wake, Log: o.Log})}
		one.spec = container.Spec{Name: string(name), Command: d.command(name)}
		d.all[name] = one
	}
	return d
}

// command is a daemon's command line. None of them reads a file or opens a port for people, and
// bgpd takes no session that it has not begun: another BGP speaker of the host may have the port.
func (d *daemons) command(name frr.Daemon) []string {
	command := []string{filepath.Join(d.Programs, string(name)), "-f", "/dev/null", "-P", "0",
		"--vty_socket", d.Sockets, "-z", filepath.Join(d.Sockets, "zserv"),
		"-i", filepath.Join(d.Sockets, string(name)+".pid"), "--log", "stdout"}
	switch name {
	case frr.BGP:
		command = append(command, "-p", "0")
	case frr.BFD:
		command = append(command, "--bfdctl", filepath.Join(d.Sockets, "bfdctl"))
	}
	return append(command, d.Flags...)
}

// ensure keeps the daemons running that a configuration needs, and configures those that have not
// what it asks for, but for what is announced.
func (d *daemons) ensure(ctx context.Context, c frr.Config) error {
	if !c.Router.IsValid() {
		return errors.New("there is no configuration yet")
	}
	var wrong []error
	ready := true // the daemons before this one
	for _, name := range frr.Daemons() {
		one := d.all[name]
		if name == frr.BFD && c.Timing.BFD == (bgp.BFD{}) {
			wrong = append(wrong, one.stop(ctx))
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
			one.forget()
			if name == frr.BFD && d.RealTime {
				wrong = append(wrong, realTime(one.keeper.PID()))
			}
		}
		wanted := c
		wanted.Announced = one.has.Announced
		err := one.change(ctx, d.Sockets, wanted)
		ready = ready && err == nil
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

func realTime(pid int) error {
	p, err := proc.Open(pid)
	if err != nil {
		return err
	}
	return errors.Join(p.RealTime(), p.Close())
}

// announce has the VIPs announced, and no others.
func (d *daemons) announce(ctx context.Context, c frr.Config,
	vips map[netip.Addr]bgp.Grade) error {
	one := d.all[frr.BGP]
	if !c.Router.IsValid() || !one.keeper.Running() {
		return nil // nothing is announced
	}
	c.Announced = maps.Clone(vips)
	return one.change(ctx, d.Sockets, c)
}

func (d *daemons) kill(name frr.Daemon) { _ = d.all[name].keeper.Signal(syscall.SIGKILL) }

// stop ends the daemons, the one first that has sessions.
func (d *daemons) stop(ctx context.Context) error {
	var wrong []error
	for _, name := range []frr.Daemon{frr.BGP, frr.BFD, frr.Zebra} {
		wrong = append(wrong, d.all[name].stop(ctx))
	}
	return errors.Join(wrong...)
}

func (o *daemon) stop(ctx context.Context) error {
	o.forget()
	return o.keeper.Stop(ctx, string(o.name))
}

// forget ends the connection. A daemon that has just started has no configuration.
func (o *daemon) forget() {
	o.hangUp()
	o.has = frr.Config{}
}

func (o *daemon) hangUp() {
	if o.conn != nil {
		_ = o.conn.Close() // nothing was written that is not answered
		o.conn = nil
	}
}

// reach is the connection to the daemon.
func (o *daemon) reach(ctx context.Context, sockets string) (*host.Daemon, error) {
	if o.conn != nil {
		return o.conn, nil
	}
	conn, err := host.Dial(ctx, sockets, o.name)
	if err != nil {
		return nil, err
	}
	o.conn = conn
	return conn, nil
}

// change leads the daemon to a configuration. If it refuses a part of that, or does not have what
// it took, it is not known what it has, and the next round gives it all anew.
func (o *daemon) change(ctx context.Context, sockets string, to frr.Config) error {
	commands := frr.Difference(o.name, o.has, to)
	if len(commands) == 0 {
		o.has = to
		return nil
	}
	conn, err := o.reach(ctx, sockets)
	if err != nil {
		return err
	}
	from := o.has
	o.has = frr.Config{}
	if err := conn.Apply(ctx, commands); err != nil {
		o.hangUp()
		return err
	}
	if from.Announced == nil || to.Announced == nil { // routes alone are asked for anyway
		running, err := conn.Show(ctx, "show running-config")
		if err != nil {
			o.hangUp()
			return err
		}
		if missing, extra := frr.Compare(o.name, to, running); len(missing)+len(extra) > 0 {
			return fmt.Errorf("%s has taken its configuration, and lacks %q, and has %q beyond it",
				o.name, missing, extra)
		}
	}
	o.has = to
	return nil
}

// ask asks the daemon, and kills one that does not answer several times in a row: it is started
// again.
func (o *daemon) ask(ctx context.Context, sockets, question string) (string, error) {
	conn, err := o.reach(ctx, sockets)
	if err == nil {
		var answer string
		if answer, err = conn.Show(ctx, question); err == nil {
			o.fails = 0
			return answer, nil
		}
		o.hangUp()
	}
	if o.fails++; o.fails >= unanswered && o.keeper.Running() {
		o.fails = 0
		err = fmt.Errorf("%w: it is killed, and started again", err)
		_ = o.keeper.Signal(syscall.SIGKILL)
	}
	return "", err
}

// unanswered is how many questions in a row may be without an answer.
const unanswered = 3
