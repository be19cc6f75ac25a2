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
}

func (o *daemon) stop(ctx context.Context) error {
	o.forget()
	return o.keeper.Stop(ctx, string(o.name))
}

// forget ends the connection. A daemon that has just started has no configuration.
func (o *daemon) forget() {
	o.hangUp()
	o.has, o.given, o.silent, o.fails = frr.Config{}, false, false, 0
}

func (o *daemon) hangUp() {
	if o.conn != nil {
		_ = o.conn.Close() // nothing was written that is not answered
		o.conn = nil
	}
}

// startup is within which time a daemon listens; it takes 50 ms on a free machine.
const startup = 3 * time.Second

// starting reports whether an error is that the daemon does not listen yet, as it has just been
// started.
func (o *daemon) starting(err error) bool {
	silent := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
	return silent && time.Since(o.begun) < startup
}

// lost notes that the daemon has not answered: all that follows in this round would wait as long.
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

// change leads the daemon to a configuration. If it refuses a part of that, or does not have what
// it took, it is not known what it has, and the next round gives it all anew. If it does not answer
// it is killed: what it had could stay, as nothing undoes what is not known. Its end withdraws all,
// and it starts without anything.
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
	o.has, o.given = frr.Config{}, true
	if err := conn.Apply(ctx, commands); err != nil {
		return o.failed(err)
	}
	if from.Announced == nil || to.Announced == nil { // routes alone are asked for anyway
		running, err := conn.Show(ctx, "show running-config")
		if err != nil {
			return o.failed(err)
		}
		if missing, extra := frr.Compare(o.name, to, running); len(missing)+len(extra) > 0 {
			return fmt.Errorf("%s has taken its configuration, and lacks %q, and has %q beyond it",
				o.name, missing, extra)
		}
	}
	o.has = to
	return nil
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
