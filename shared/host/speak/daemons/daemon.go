package daemons

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/child"
	host "github.com/onprem-infra/onprem-infra/shared/host/frr"
)

// daemon is one of them.
type daemon struct {
	name   frr.Daemon
	spec   container.Spec
	keeper *child.Keeper
	starts int
	begun  time.Time    // the last one
	conn   *host.Daemon // nil while there is none
	has    frr.Config   // the zero value after each start, and while it is not known
	given  bool         // it has been given something since its start
	silent bool         // it has not answered in this round
	fails  int          // questions in a row without an answer
	lack   lack         // what it has refused; the zero value for nothing
}

func (o *daemon) stop(ctx context.Context) error {
	o.forget()
	return o.keeper.Stop(ctx, string(o.name))
}

// forget ends the connection. A daemon that has just started has no configuration.
func (o *daemon) forget() {
	o.hangUp()
	o.has, o.given, o.silent, o.fails, o.lack = frr.Config{}, false, false, 0, lack{}
}

func (o *daemon) hangUp() {
	if o.conn != nil {
		_ = o.conn.Close() // nothing was written that is not answered
		o.conn = nil
	}
}

// startup is within which time a daemon listens and answers; it takes 50 ms on a free machine.
const startup = 3 * time.Second

// starting reports whether an error is that the daemon does not listen yet, as it has just been
// started.
func (o *daemon) starting(err error) bool {
	silent := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
	return silent && time.Since(o.begun) < startup
}

// lost notes that the daemon does not answer: more questions in this round would wait as long.
func (o *daemon) lost() {
	o.hangUp()
	o.silent = true
}

// reach is the connection to the daemon.
func (o *daemon) reach(ctx context.Context, sockets string) (*host.Daemon, error) {
	if o.conn != nil {
		return o.conn, nil
	}
	conn, err := host.Dial(ctx, sockets, o.name)
	if err != nil {
		o.silent = o.silent || host.Unanswered(err)
		return nil, err
	}
	o.conn = conn
	return conn, nil
}

// connect is reach for a change. A daemon that takes connections and does not answer on them can be
// given nothing, and is asked nothing else while it has no configuration: it is ended here.
func (o *daemon) connect(ctx context.Context, sockets string) (*host.Daemon, error) {
	conn, err := o.reach(ctx, sockets)
	switch {
	case err == nil:
		o.fails = 0
	case host.Unanswered(err) && time.Since(o.begun) > startup:
		err = o.missed(err)
	}
	return conn, err
}

// missed counts a question without an answer, and kills the daemon after several in a row.
func (o *daemon) missed(err error) error {
	if o.fails++; o.fails < unanswered || !o.keeper.Running() {
		return err
	}
	o.fails = 0
	_ = o.keeper.Signal(syscall.SIGKILL) // it may have ended
	return fmt.Errorf("%w: it is killed, and started again", err)
}

// unanswered is how many questions in a row may be without an answer.
const unanswered = 3

// show asks one question.
func (o *daemon) show(ctx context.Context, sockets, question string) (string, error) {
	if o.silent {
		return "", fmt.Errorf("%s has not answered in this round: it is asked nothing more",
			o.name)
	}
	conn, err := o.reach(ctx, sockets)
	if err != nil {
		return "", err
	}
	answer, err := conn.Show(ctx, question)
	if host.Unanswered(err) {
		o.lost()
	} else if err != nil {
		o.hangUp()
	}
	return answer, err
}

// change brings the daemon to a configuration. If it refuses a part of that, it has the rest, and
// repair gives it that part again. If it has something beyond it, which may do harm, all is given
// anew. If it does not answer it is killed: what it had could stay, as nothing undoes what is not
// known. Its end withdraws all, and it starts without anything.
func (o *daemon) change(ctx context.Context, sockets string, to frr.Config) error {
	commands := frr.Difference(o.name, o.has, to)
	if len(commands) == 0 {
		o.has = to
		return nil
	}
	if !o.has.Router.IsValid() && o.lack.holds(to, time.Now()) {
		return o.lack.err
	}
	conn, err := o.connect(ctx, sockets)
	if err != nil {
		return err
	}
	from := o.has
	o.has, o.given = frr.Config{}, true
	refused := conn.Apply(ctx, commands)
	if host.Unanswered(refused) {
		return o.failed(refused)
	}
	known := o.lack.err == nil || same(o.lack.of, to) // what it refuses of that
	if refused == nil && known && from.Announced != nil && to.Announced != nil && same(from, to) {
		o.has = to // routes are asked for anyway
		return nil
	}
	return o.verify(ctx, conn, to, refused, known)
}

// repair gives the daemon again what it has refused, if the pause is over. Its sessions stay up.
func (o *daemon) repair(ctx context.Context, sockets string) error {
	if o.lack.err == nil || !o.has.Router.IsValid() || time.Now().Before(o.lack.next) {
		return o.lack.err
	}
	conn, err := o.connect(ctx, sockets)
	if err != nil {
		return err
	}
	running, err := conn.Show(ctx, runningConfig)
	if err != nil {
		return o.failed(err)
	}
	refused := conn.Apply(ctx, frr.Repair(o.name, o.has, running))
	if host.Unanswered(refused) {
		return o.failed(refused)
	}
	return o.verify(ctx, conn, o.has, refused, false)
}

// runningConfig asks a daemon what it has.
const runningConfig = "show running-config"

// verify reads back what the daemon has of a configuration, of which it may have refused a part.
// If known is set, a part that it has refused before is no new error.
func (o *daemon) verify(ctx context.Context, conn *host.Daemon, to frr.Config, refused error,
	known bool) error {
	running, err := conn.Show(ctx, runningConfig)
	if err != nil {
		return o.failed(err)
	}
	if refused != nil {
		o.hangUp() // it may be in a section
	}
	missing, extra := frr.Compare(o.name, to, running)
	if len(extra) == 0 {
		o.has = to
	} else {
		o.has = frr.Config{}
	}
	switch {
	case len(missing)+len(extra) == 0:
		o.lack = lack{}
		return nil
	case refused == nil && known && o.lack.err != nil && len(extra) == 0:
		return nil
	case refused == nil:
		refused = fmt.Errorf("%s has taken its configuration, and lacks %q, and has %q beyond it",
			o.name, missing, extra)
	}
	o.lack = o.lack.again(to, refused, time.Now())
	return o.lack.err
}

// failed ends the connection after an error of a change, and the daemon if it has not answered.
func (o *daemon) failed(err error) error {
	if !host.Unanswered(err) {
		o.hangUp()
		return err
	}
	o.lost()
	_ = o.keeper.Signal(syscall.SIGKILL) // it may have ended
	return fmt.Errorf("%w: it is not known what %s has of what it was given: it is killed, and "+
		"started again", err, o.name)
}
